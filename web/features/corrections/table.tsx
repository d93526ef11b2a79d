import { useState } from 'preact/hooks';
import type { Client } from '../../api/client.ts';
import { createLimit } from '../../api/client.ts';
import { nullIfMissing, Problem, problemWords } from '../../api/request.ts';
import type { DeviceInfo } from '../../api/types.ts';
import { typedWindow, writeWindow } from '../../chart/window.ts';
import { formatDateClock, formatDateTime, formatZone } from '../../format.ts';
import { OtherZone } from '../../kit/figure.tsx';
import { Table } from '../../kit/table.tsx';
import { deviceHref, sensorHref, withQuery } from '../../routes.ts';
import { useKept, useQuery, useServices } from '../../state/hooks.ts';
import { scopeText, useMay } from '../../state/session.ts';
import { FormDialog } from '../shared/form.tsx';
import type { Correction } from './api.ts';
import { readCorrections, undoCorrection } from './api.ts';
import { useReason } from './fields.tsx';
import { createJobs } from './job.ts';
import type { JoinedCorrection } from './rules.ts';
import { correctionText, inEffect, rangeText, UNDO_DAYS, undoEnd } from './rules.ts';

/** Devices by id. null: it is not registered any more. */
export type Devices = ReadonlyMap<string, DeviceInfo | null>;

/** The number of devices that are read at once. */
const AT_ONCE = 3;

/** Reads the devices of corrections, for the names. @returns an empty map while they are read */
export function useDevices(corrections: Correction[] | null): Devices {
  const { client } = useServices();
  const ids = [...new Set(corrections?.map(({ device_id }) => device_id))].sort();
  const { data } = useQuery(`devices ${ids.join(' ')}`, async (signal) => {
    const limit = createLimit(AT_ONCE);
    const read = (id: string) => limit.run(() => client.device(id, signal).catch(nullIfMissing), signal);
    return new Map(await Promise.all(ids.map(async (id) => [id, await read(id)] as const)));
  });
  return data ?? NOT_READ;
}

const NOT_READ: Devices = new Map();

/** Renders corrections, newest first, with buttons that undo them. */
export function CorrectionTable({
  rows,
  effective,
  devices,
  onUndone,
}: {
  rows: JoinedCorrection[] | null;
  /** ids of the corrections that are in effect */
  effective: ReadonlySet<string>;
  /** null: all rows are of one sensor, which the page names */
  devices: Devices | null;
  onUndone: (text: string) => void;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [asked, setAsked] = useState<JoinedCorrection | null>(null);
  return (
    <>
      <Table
        class="plain stacks corrections"
        caption="Corrections, newest first"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          {
            label: `When, ${formatZone(zone, Date.now())}`,
            width: '11.5rem',
            cell: ({ accepted_at }) => (
              <>
                <time datetime={accepted_at}>{formatDateTime(Date.parse(accepted_at), zone)}</time>
                <OtherZone ts={Date.parse(accepted_at)} />
              </>
            ),
          },
          {
            label: 'Correction',
            class: 'wraps whole',
            isName: true,
            cell: (correction) => (
              <>
                {correctionText(correction)}
                {devices && <Sensors correction={correction} devices={devices} />}
              </>
            ),
          },
          {
            label: 'Measured',
            class: 'wraps whole',
            cell: (correction) => <Measured correction={correction} devices={devices} />,
          },
          {
            label: 'Why and who',
            class: 'wraps whole',
            cell: ({ reason, by }) => (
              <>
                {reason} <span class="quiet">{by}</span>
              </>
            ),
          },
          {
            label: 'Undo',
            class: 'wraps whole',
            width: '13rem',
            cell: (correction) => (
              <Undo
                correction={correction}
                isEffective={effective.has(correction.id)}
                onAsk={() => setAsked(correction)}
              />
            ),
          },
        ]}
      />
      {asked && (
        <UndoDialog
          correction={asked}
          onDone={() => onUndone(`${correctionText(asked)}: undone.`)}
          onClose={() => setAsked(null)}
        />
      )}
    </>
  );
}

/** Number of sensors that a row names. */
const NAMED = 3;

function Sensors({ correction, devices }: { correction: Correction; devices: Devices }) {
  const { device_id, sensor_ids } = correction;
  const device = devices.get(device_id);
  const names = sensor_ids.map((id) => device?.sensors.find(({ sensor_id }) => sensor_id === id)?.name ?? id);
  const more = names.length - NAMED;
  return (
    <span class="correction-sensors" title={names.join(', ')}>
      {' of '}
      {device === null ? (
        `a device that is not registered any more, ${device_id}`
      ) : (
        <a class="link" href={deviceHref(device_id, device?.name)}>
          {device?.name ?? device_id}
        </a>
      )}{' '}
      <span class="quiet">
        {names.slice(0, NAMED).join(', ')}
        {more > 0 && ` and ${more} more`}
      </span>
    </span>
  );
}

/** Share of the range that a link shows before and after it, and its minimum in ms. */
const MARGIN = { share: 0.1, least: 30_000 };

function Measured({ correction, devices }: { correction: Correction; devices: Devices | null }) {
  const { preferences, clock } = useServices();
  const { zone } = preferences.choice.value;
  const { device_id, sensor_ids } = correction;
  const range = { from: Date.parse(correction.from), to: Date.parse(correction.to) };
  const margin = Math.max((range.to - range.from) * MARGIN.share, MARGIN.least);
  const window = typedWindow(
    { from: Math.round(range.from - margin), to: Math.round(range.to + margin) },
    clock.now(),
  );
  const [sensor] = sensor_ids;
  const path =
    sensor !== undefined && sensor_ids.length === 1 ? sensorHref(device_id, sensor) : deviceHref(device_id);
  const text = (
    <>
      {rangeText(range, zone)}
      <OtherZone ts={range.from} />
    </>
  );
  if (devices?.get(device_id) === null) return text;
  return (
    <a class="link" href={withQuery({ path, query: new URLSearchParams() }, writeWindow(window))}>
      {text}
    </a>
  );
}

function Undo({
  correction,
  isEffective,
  onAsk,
}: {
  correction: Correction;
  isEffective: boolean;
  onAsk: () => void;
}) {
  const { clock, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const may = useMay('correct');
  const until = undoEnd(correction);
  if (!isEffective) return <span class="quiet">Undone</span>;
  if (clock.time.value > until) return <span class="quiet">Only within {UNDO_DAYS} days</span>;
  return (
    <span class="correction-undo">
      <button
        type="button"
        class="button"
        aria-haspopup="dialog"
        disabled={!may}
        title={may ? undefined : scopeText('Undo', 'correct')}
        onClick={onAsk}
      >
        Undo…<span class="visually-hidden"> {correctionText(correction)}</span>
      </button>
      <span class="quiet small">until {formatDateClock(until, zone)}</span>
    </span>
  );
}

/** Titles for error codes of the API in the dialog. The API gives the advice. */
const TITLES: Record<string, string> = {
  busy: 'It cannot be undone now',
  not_found: 'This correction has expired',
  too_late: 'It can no longer be undone',
};

function undoWords(problem: Problem) {
  const title = TITLES[problem.code];
  return title === undefined ? problemWords(problem) : { title, advice: problem.detail };
}

/** The API would undo a correction twice. */
async function isUndone(client: Client, { id, device_id, accepted_at }: Correction, signal?: AbortSignal) {
  const query = { device: device_id, from: accepted_at, limit: 1000 };
  const { items } = await readCorrections(client, query, signal);
  const effective = inEffect(items);
  return items.some((later) => later.undoes === id && effective.has(later.id));
}

function UndoDialog({
  correction,
  onDone,
  onClose,
}: {
  correction: JoinedCorrection;
  onDone: () => void;
  onClose: () => void;
}) {
  const { client, live, preferences } = useServices();
  const jobs = useKept(createJobs);
  const { zone } = preferences.choice.value;
  const { reason, field } = useReason();
  const range = { from: Date.parse(correction.from), to: Date.parse(correction.to) };

  async function undo() {
    const { parts } = correction;
    if (parts.length > 1) {
      if (jobs.isBusy())
        throw new Problem({
          title: 'Another correction has not ended',
          detail: 'Continue it, or give it up.',
          status: 409,
        });
      const send = (part: Correction) => async (signal: AbortSignal) => {
        if (!(await isUndone(client, part, signal))) await undoCorrection(client, part.id, reason, signal);
        return part.samples;
      };
      const title = `Undo: ${correctionText(correction)}`;
      jobs.start({ title, past: 'undone', prepare: async () => parts.toReversed().map(send) });
      return onClose();
    }
    const isLate = await isUndone(client, parts[0]);
    if (!isLate) await undoCorrection(client, correction.id, reason);
    live.historyChanges.value++;
    if (isLate)
      throw new Problem({ title: 'Somebody has undone it already', detail: 'The log has who.', status: 409 });
    onDone();
    onClose();
  }

  return (
    <FormDialog
      title="Undo this correction?"
      submit="Undo"
      busyLabel="Undoing…"
      isCareful
      words={undoWords}
      onSubmit={undo}
      onClose={onClose}
    >
      <p>
        {correctionText(correction)}, {rangeText(range, zone)} {formatZone(zone, range.from)}. All readers
        then see what they would see without it. Later corrections stay. You can undo this undo, too.
      </p>
      {field}
    </FormDialog>
  );
}
