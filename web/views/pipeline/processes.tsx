import type { Check, Measurements, Pipeline, ProcessInfo } from '../../api/types.ts';
import {
  formatClock,
  formatCount,
  formatDateClock,
  formatDuration,
  formatMs,
  formatRate,
  formatZone,
  NOTHING,
} from '../../format.ts';
import { Age } from '../../kit/figure.tsx';
import { useServices } from '../../state/hooks.ts';

const ROLES = { all: 'all: takes and serves', ingest: 'ingest: takes', http: 'http: serves readers' };

/**
 * Renders the table of processes with their last heartbeats. A process sends a heartbeat every 10 s.
 *
 * @param props `isOld`: the state is not current, so rates and connections may have changed
 */
export function ProcessTable({ processes, isOld }: { processes: ProcessInfo[]; isOld: boolean }) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  return (
    <div class="scrolls" tabIndex={0} role="group" aria-label="Processes, a table that may scroll sideways">
      <table class="plain processes">
        <caption class="visually-hidden">Processes</caption>
        <thead>
          <tr>
            <th scope="col" class="col-name">
              Process
            </th>
            <th scope="col" class="col-role">
              Role
            </th>
            <th scope="col" class="col-version">
              Version
            </th>
            <th scope="col" class="col-since">
              Started
            </th>
            <th scope="col" class="col-seen">
              Heartbeat
            </th>
            <th scope="col" class="number col-rate">
              Samples/s
            </th>
            <th
              scope="col"
              class="number col-commit"
              title="p50 · p99: half and 99 % of messages are committed within so many ms"
            >
              Commit ms
            </th>
            <th
              scope="col"
              class="number col-window"
              title="Requests to the database on their way, and how many may be"
            >
              In flight
            </th>
            <th scope="col" class="number col-waiting" title="Requests that wait for a place">
              Waiting
            </th>
            <th scope="col" class="col-broker">
              Broker
            </th>
          </tr>
        </thead>
        <tbody>
          {processes.map((process) => (
            <tr
              key={process.client_id}
              data-tone={process.stale || process.broker?.ok === false ? 'warn' : undefined}
            >
              <th scope="row" class="col-name" title={process.client_id}>
                {process.client_id}
              </th>
              <td title={ROLES[process.role]}>{process.role}</td>
              <td>{process.version}</td>
              <td>{formatDateClock(Date.parse(process.since), zone)}</td>
              <td>
                {process.stale && <strong class="wrong">! silent for </strong>}
                <Age ts={process.seen} isExpected />
              </td>
              <td class="number">{isOld ? NOTHING : formatRate(process.samples_per_s)}</td>
              <td class="number">
                {isOld ? NOTHING : `${formatMs(process.commit_ms.p50)} · ${formatMs(process.commit_ms.p99)}`}
              </td>
              <td class="number">
                {isOld
                  ? NOTHING
                  : `${formatCount(process.in_flight)} of ${formatCount(process.pressure.window)}`}
              </td>
              <td class="number">{isOld ? NOTHING : formatCount(process.pressure.waiting)}</td>
              <td class="col-broker">{brokerWords(process.broker, isOld)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const WAYS: Array<[key: keyof Measurements, label: string, title: string]> = [
  ['received', 'Received', 'Measurements of all messages that are settled, since each process started'],
  ['stored', 'Stored', 'Committed to the database'],
  ['merged', 'Merged', 'Another measurement of the message has the same sensor and instant'],
  ['refused', 'Refused', 'In dead letters, or refused in the answer to a POST'],
  ['skipped', 'Skipped', 'Texts, nulls and other values that are not stored by rule'],
];

export const Accounts = ({ measurements }: { measurements: Measurements }) => (
  <dl class="accounts">
    {WAYS.map(([key, label, title]) => (
      <div key={key} title={title}>
        <dt>{label}</dt>
        <dd>{formatCount(measurements[key])}</dd>
      </div>
    ))}
  </dl>
);

function brokerWords(broker: Check | null, isOld: boolean) {
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
      <p class="packing-why">
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
 * @param now current time in epoch ms
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
