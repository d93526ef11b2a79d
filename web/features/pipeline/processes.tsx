import {
  formatClock,
  formatCount,
  formatDateClock,
  formatDuration,
  formatZone,
  NOTHING,
} from '../../format.ts';
import { Age } from '../../kit/figure.tsx';
import { Table } from '../../kit/table.tsx';
import { useServices } from '../../state/hooks.ts';
import type { Measurements, Pipeline, ProcessInfo } from './api.ts';
import { formatMs, formatRate } from './format.ts';

const ROLES = {
  all: 'all: stores measurements, and serves readers',
  ingest: 'ingest: stores measurements',
  http: 'http: serves readers',
};

/**
 * Renders the table of processes with their last heartbeats. A process sends a heartbeat every 10 s.
 *
 * @param props `isOld`: the state is not current, so rates and connections may have changed
 */
export function ProcessTable({ processes, isOld }: { processes: ProcessInfo[]; isOld: boolean }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const ifNew = (text: string) => (isOld ? NOTHING : text);
  return (
    <div class="scrolls" tabIndex={0} role="group" aria-label="Processes, a table that may scroll sideways">
      <Table
        class="plain processes"
        caption="Processes"
        rows={processes}
        keyOf={({ client_id }) => client_id}
        rowAttributes={({ stale, broker }) => ({
          'data-tone': stale || broker?.ok === false ? 'warn' : undefined,
        })}
        columns={[
          {
            label: 'Process',
            width: '12rem',
            isName: true,
            attributes: ({ client_id }) => ({ title: client_id }),
            cell: ({ client_id }) => client_id,
          },
          {
            label: 'Role',
            width: '4rem',
            attributes: ({ role }) => ({ title: ROLES[role] }),
            cell: ({ role }) => role,
          },
          { label: 'Version', width: '4rem', cell: ({ version }) => version },
          {
            label: 'Started',
            width: '10.25rem',
            cell: ({ since }) => formatDateClock(Date.parse(since), zone),
          },
          {
            label: 'Heartbeat',
            width: '9.5rem',
            cell: ({ stale, seen }) => (
              <>
                {stale && <strong class="wrong">! silent for </strong>}
                <Age ts={seen} isExpected />
              </>
            ),
          },
          {
            label: 'Samples/s',
            class: 'number',
            width: '5.5rem',
            cell: ({ samples_per_s }) => ifNew(formatRate(samples_per_s)),
          },
          {
            label: 'Commit ms',
            class: 'number',
            width: '6.5rem',
            title: 'p50 · p99: half and 99 % of messages are committed within so many ms',
            cell: ({ commit_ms: { p50, p99 } }) => ifNew(`${formatMs(p50)} · ${formatMs(p99)}`),
          },
          {
            label: 'In flight',
            class: 'number',
            width: '6rem',
            title: 'Requests to the database on their way, and how many may be',
            cell: ({ in_flight, pressure }) =>
              ifNew(`${formatCount(in_flight)} of ${formatCount(pressure.window)}`),
          },
          {
            label: 'Waiting',
            class: 'number',
            width: '4.5rem',
            title: 'Requests that wait for a place',
            cell: ({ pressure }) => ifNew(formatCount(pressure.waiting)),
          },
          { label: 'Broker', class: 'col-broker', cell: ({ broker }) => brokerWords(broker, isOld) },
        ]}
      />
    </div>
  );
}

const OUTCOMES: Array<[key: keyof Measurements, label: string, title: string]> = [
  ['received', 'Received', 'Measurements of all messages that are settled, since each process started'],
  ['stored', 'Stored', 'Committed to the database'],
  ['merged', 'Merged', 'Another measurement of the message has the same sensor and instant'],
  ['refused', 'Refused', 'In dead letters, or refused in the answer to a POST'],
  ['skipped', 'Skipped', 'Texts, nulls and other values that are not stored by rule'],
];

export const MeasurementCounts = ({ measurements }: { measurements: Measurements }) => (
  <dl class="accounts">
    {OUTCOMES.map(([key, label, title]) => (
      <div key={key} title={title}>
        <dt>{label}</dt>
        <dd>{formatCount(measurements[key])}</dd>
      </div>
    ))}
  </dl>
);

function brokerWords(broker: ProcessInfo['broker'], isOld: boolean) {
  if (!broker) return <span title="It has no session there">{NOTHING}</span>;
  if (isOld) return <span class="quiet">{`was: ${broker.message}`}</span>;
  return broker.ok ? (
    `✓ ${broker.message}`
  ) : (
    <strong class="wrong" title={broker.message}>
      ✕ {broker.message}
    </strong>
  );
}

/**
 * Renders the database nodes as the answering process sees them, and the packing progress.
 *
 * @param props `isOld`: the state is not current, so a node may be down by now
 */
export const Storage = ({ pipeline, now, isOld }: { pipeline: Pipeline; now: number; isOld: boolean }) => (
  <div class="pair">
    <section class="panel" aria-label="Database nodes">
      <h2 class="panel-title">Database nodes</h2>
      <ul class="nodes">
        {pipeline.database.nodes.map(({ address, data_center, up }) => (
          <li key={address}>
            <span class="node-state" data-up={isOld ? undefined : up}>
              {isOld ? `was ${up ? 'up' : 'down'}` : up ? '✓ up' : '✕ down'}
            </span>
            <span>{address}</span>
            <span class="quiet">{data_center}</span>
          </li>
        ))}
      </ul>
    </section>
    <section class="panel" aria-label="Packing">
      <h2 class="panel-title">Packing</h2>
      <Packing packedUntil={pipeline.packed_until} now={now} />
    </section>
  </div>
);

function Packing({ packedUntil, now }: { packedUntil: string; now: number }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { until, newest, behindMs } = packingOf(packedUntil, now);
  return (
    <>
      <p class="packing" data-tone={behindMs >= BEHIND_MS ? 'warn' : undefined}>
        <strong class="packing-until">
          {behindMs === 0 ? '✓ ' : ''}Packed until {formatDateClock(until, zone)} {formatZone(zone, until)}
        </strong>
        ,{' '}
        {behindMs === 0
          ? 'up to date.'
          : `${formatDuration(behindMs)} behind the newest hour that may be packed, which ended at ${formatClock(newest, zone)}.`}
      </p>
      <p class="packing-why small">
        An hour closes one hour after its end. Then it is packed with its minimum, maximum and average, so a
        chart of a year is quick. Reads are exact before and after.
      </p>
    </>
  );
}

/**
 * Time in ms after the end of an hour from which the hour may be packed. The value equals that of schema/rules.ts; a test
 * compares the two.
 */
export const PACK_DELAY_MS = 3_600_000;
const HOUR_MS = 3_600_000;

/** Packing lag in ms from which the page marks the lag. No data is lost, but long charts are slower. */
export const BEHIND_MS = 6 * HOUR_MS;

/**
 * @param packedUntil time in ISO 8601 before which all hours are packed
 * @returns `newest`: end of the newest hour that may be packed, in epoch ms
 */
export function packingOf(
  packedUntil: string,
  now: number,
): { until: number; newest: number; behindMs: number } {
  const until = Date.parse(packedUntil);
  const newest = Math.floor((now - PACK_DELAY_MS) / HOUR_MS) * HOUR_MS;
  return { until, newest, behindMs: Math.max(0, newest - until) };
}
