import { useState } from 'preact/hooks';
import type { Client } from '../../api/client.ts';
import { Problem } from '../../api/request.ts';
import type { Measurement } from '../../api/types.ts';
import { formatCounted, formatDateTime, formatTimeMs, formatUnit, formatZone } from '../../format.ts';
import { useKept, useQuery, useServices } from '../../state/hooks.ts';
import { Field, FormDialog } from '../shared/form.tsx';
import type { Correction } from './api.ts';
import { readCorrections, removeSamples, replaceSamples } from './api.ts';
import { FieldError, useRange, useReason, useSensorChoice, useTime } from './fields.tsx';
import { createJobs } from './job.ts';
import type { DialogProps } from './remove-dialog.tsx';
import type { Calibration } from './rules.ts';
import { calibrate, chunksOf, inEffect, MAX_CALIBRATED, SAMPLES_PER_REQUEST } from './rules.ts';

type Kind = 'replace' | Calibration['kind'];

const KINDS: [Kind, string][] = [
  ['replace', 'Replace one value'],
  ['add', 'Add to all values of a range'],
  ['multiply', 'Multiply all values of a range'],
];

const LABELS = { replace: 'New value', add: 'Add', multiply: 'Multiply by' };

/** The values that a calibration would change. */
interface Counted {
  key: string;
  samples: number;
  first: Measurement | null;
  /** corrections of this sensor that are in effect in the range */
  earlier: Correction[];
}

/** Renders the dialog that replaces one value, or calibrates all values of a range. It first counts the values of a range. */
export function CorrectDialog({ device, sensor, range: shown, onDone, onClose }: DialogProps) {
  const { client, clock, live } = useServices();
  const jobs = useKept(createJobs);
  const choice = useSensorChoice({ device: device.id, sensor });
  const [kind, setKind] = useState<Kind>('replace');
  const [typed, setTyped] = useState('');
  const [counted, setCounted] = useState<Counted | null>(null);
  const time = useTime('Time', Math.min(shown.to, clock.now()), { isExact: true });
  const { range, fields } = useRange(shown);
  const { reason, field: reasonField } = useReason();
  const number = typed.trim() === '' ? Number.NaN : Number(typed);
  const selection = { device: device.id, sensor: choice.id };
  const key = JSON.stringify([selection, range]);
  const found = counted?.key === key && kind !== 'replace' ? counted : null;
  const isMuch = found !== null && found.samples > MAX_CALIBRATED;
  const unit = kind === 'multiply' ? '' : formatUnit(choice.unit);
  const isPossible =
    kind === 'replace' ? time.ts !== null : range !== null && found?.samples !== 0 && !isMuch;

  async function submit() {
    const ids = { ...selection, reason };
    if (kind === 'replace') {
      const samples = await replacementOf(client, ids, [{ ts: Number(time.ts), value: number }])();
      live.historyChanges.value++;
      onDone(`${formatCounted(samples, 'sample')} replaced.`);
    } else if (found && range) {
      jobs.start({
        title: `Correct values of ${device.name} ${choice.name}`,
        past: 'replaced',
        prepare: (signal) => calibrationOf(client, { ...ids, ...range }, { kind, by: number }, signal),
      });
    } else if (range) {
      return setCounted({ key, ...(await countValues(client, selection, range)) });
    }
    onClose();
  }

  return (
    <FormDialog
      title={`Correct values of ${device.name}`}
      submit={submitText(kind, found)}
      busyLabel="Counting…"
      tone={kind === 'replace' || found ? 'main' : 'plain'}
      isReady={choice.isRead && isPossible && Number.isFinite(number)}
      onSubmit={submit}
      onClose={onClose}
    >
      {choice.field}
      <Field label="What to do" options={KINDS} value={kind} onValue={(next) => setKind(next as Kind)} />
      {kind === 'replace' ? (
        <>
          {time.field}
          <Stored device={device.id} sensor={choice.id} ts={time.ts} unit={choice.unit} onTime={time.set} />
        </>
      ) : (
        fields
      )}
      <Field
        label={unit === '' ? LABELS[kind] : `${LABELS[kind]}, in ${unit} as the sensor sends it`}
        type="number"
        step="any"
        required
        value={typed}
        onValue={setTyped}
      />
      {reasonField}
      <div role="status">
        {found && kind !== 'replace' && (
          <Found found={found} calibration={{ kind, by: number }} unit={choice.unit} />
        )}
      </div>
      {isMuch && (
        <FieldError>
          One correction computes at most {formatCounted(MAX_CALIBRATED, 'value')}. Choose a shorter range.
        </FieldError>
      )}
    </FormDialog>
  );
}

function submitText(kind: Kind, found: Counted | null): string {
  if (kind === 'replace') return 'Replace';
  return found ? `Correct ${formatCounted(found.samples, 'value')}` : 'Count';
}

/** Renders the stored values at a time and around it. A press on one chooses its time. */
function Stored({
  device,
  sensor,
  ts,
  unit,
  onTime,
}: {
  device: string;
  sensor: string;
  ts: number | null;
  unit: string | null;
  onTime: (ts: number) => void;
}) {
  const { client, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { data } = useQuery(`stored ${device}/${sensor} ${ts}`, async (signal) => {
    if (sensor === '' || ts === null) return null;
    const read = (query: object) => client.measurements(device, sensor, { limit: 1, ...query }, signal);
    const [until, after] = await Promise.all([
      read({ to: ts + 1, order: 'desc' }),
      read({ from: ts + 1, order: 'asc' }),
    ]);
    return { ts, items: [...until.items, ...after.items] };
  });
  if (!data || data.ts !== ts) return <p class="correction-stored">Reading the stored value…</p>;
  const exact = data.items.find((item) => Date.parse(item.ts) === ts);
  if (exact)
    return (
      <p class="correction-stored">
        Stored: <strong>{`${exact.value} ${formatUnit(unit)}`}</strong>
      </p>
    );
  return (
    <p class="correction-stored">
      Nothing is stored at this time, so it gets a value.
      {data.items.length > 0 && ' To replace one, choose it: '}
      {data.items.map((item) => {
        const at = Date.parse(item.ts);
        return (
          <button key={item.ts} type="button" class="button" onClick={() => onTime(at)}>
            {`${formatDateTime(at, zone)}${formatTimeMs(at, zone).slice(8)} ${formatZone(zone, at)}: ${item.value}`}
          </button>
        );
      })}
    </p>
  );
}

function Found({
  found: { samples, first, earlier },
  calibration,
  unit,
}: {
  found: Counted;
  calibration: Calibration;
  unit: string | null;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  if (!first) return <p>No value is stored in this range.</p>;
  const value = calibrate(first.value, calibration);
  return (
    <>
      <p>
        <strong>{formatCounted(samples, 'value')}</strong> will be corrected.
        {Number.isFinite(value) &&
          ` The first, ${first.value}, becomes ${value} ${formatUnit(unit)}`.trimEnd()}
      </p>
      {earlier.length > 0 && (
        <p class="dialog-warning">
          Values of this range were corrected before, last on{' '}
          {formatDateTime(Date.parse(earlier[0]?.accepted_at ?? ''), zone)}. This correction computes from the
          corrected values. To compute from the original ones, undo the earlier correction first.
        </p>
      )}
    </>
  );
}

type Sensor = { device: string; sensor: string };
type Range = { from: number; to: number };

/** Maximum number of corrections that are checked for earlier ones of the range. */
const CHECKED = 200;

async function countValues(client: Client, selection: Sensor, range: Range): Promise<Omit<Counted, 'key'>> {
  const { device, sensor } = selection;
  const [removal, page, log] = await Promise.all([
    removeSamples(client, { ...selection, ...range, dry_run: 'true' }),
    client.measurements(device, sensor, { ...range, order: 'asc', limit: 1 }),
    readCorrections(client, { device, limit: CHECKED }),
  ]);
  const effective = inEffect(log.items);
  const earlier = log.items.filter(
    ({ id, kind, sensor_ids, from, to }) =>
      kind === 'replace' &&
      effective.has(id) &&
      sensor_ids.includes(sensor) &&
      Date.parse(from) < range.to &&
      Date.parse(to) > range.from,
  );
  return { samples: removal.samples, first: page.items[0] ?? null, earlier };
}

/** Reads the values once. The parts hold the computed values, so a repeated part does not compute again. */
async function calibrationOf(
  client: Client,
  { from, to, ...ids }: Sensor & { reason: string } & Range,
  calibration: Calibration,
  signal: AbortSignal,
) {
  const { ts, value } = await client.samples(ids.device, ids.sensor, { from, to }, signal);
  const samples = ts.map((at, index) => ({ ts: at, value: calibrate(value[index] ?? 0, calibration) }));
  const bad = samples.filter((sample) => !Number.isFinite(sample.value)).length;
  if (bad > 0)
    throw new Problem({
      title: 'The computed values are too large',
      detail: `${formatCounted(bad, 'value')} would be no number. Nothing was changed.`,
      status: 400,
    });
  return chunksOf(samples, SAMPLES_PER_REQUEST).map((chunk) => replacementOf(client, ids, chunk));
}

function replacementOf(
  client: Client,
  { device, sensor, reason }: Sensor & { reason: string },
  samples: { ts: number; value: number }[],
) {
  return async (signal?: AbortSignal) => {
    const body = samples.map((sample) => ({ sensor_id: sensor, ...sample }));
    const { accepted } = await replaceSamples(client, { device, reason }, body, signal);
    return accepted;
  };
}
