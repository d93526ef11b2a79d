import { forEachConcurrently } from '../../../common/concurrency.ts';
import { type Identity, uuidBytes } from '../../../schema/ids.ts';
import type { Span } from '../../../schema/packed/series.ts';
import { dayOf, HOUR_MS } from '../../../schema/rules.ts';
import type { Core } from '../../feature.ts';
import type { Hour, Range, Sensor } from '../../history/reading/hours.ts';
import { LONGEST_MS, storedRange } from '../../history/reading/index.ts';
import type { CorrectionRequest } from '../../ingest/correction-log.ts';
import type { Change } from '../../ingest/corrections.ts';
import { sensorOf } from '../../ingest/index.ts';
import type { RevisedHour } from '../../ingest/revisions.ts';
import type { Correction } from '../../store/corrections.ts';
import type { selectSensors } from '../shared/selection/index.ts';

type Selected = Awaited<ReturnType<typeof selectSensors>>;

type Deps = Pick<Core, 'reading' | 'ingest' | 'corrections'>;

interface Removal extends CorrectionRequest {
  range: Range;
  /** only counts */
  isDry: boolean;
  signal: AbortSignal;
}

/** Each with up to 8,784 hours a year. */
const SENSORS_AT_ONCE = 8;

/** Each day of a sensor whose hours have no exact statistics is a read of its own. */
const DAYS_AT_ONCE = 16;

/**
 * Each device has one revision and one entry in the log, which is written first. So the log also has a removal that ended early. Until a
 * removal is finished, its entry has all selected sensors.
 * @returns what was removed @throws the reason with which `signal` was aborted
 */
export async function removeSamples(deps: Deps, selected: Selected, removal: Removal) {
  const total = { devices: 0, sensors: 0, samples: 0 };
  for (const [id, sensors] of byDevice(selected)) {
    const { length, samples } = await removeOfDevice(deps, { id, bytes: uuidBytes(id) }, sensors, removal);
    total.devices += length > 0 ? 1 : 0;
    total.sensors += length;
    total.samples += samples;
  }
  return total;
}

function byDevice(selected: Selected): Map<string, Selected> {
  const devices: Map<string, Selected> = new Map();
  for (const sensor of selected)
    devices.set(sensor.row.deviceId, [...(devices.get(sensor.row.deviceId) ?? []), sensor]);
  return devices;
}

async function removeOfDevice(
  deps: Deps,
  identity: Pick<Identity, 'id' | 'bytes'>,
  sensors: Selected,
  { range, isDry, signal, ...request }: Removal,
) {
  const { corrections, ingest } = deps;
  const removed: { ids: string[]; samples: number } = { ids: [], samples: 0 };
  const device = await ingest.writing.registry.findNow(identity);
  if (!device) return { length: 0, samples: 0 };
  const entry = { kind: 'remove' as const, sensors: sensors.map(({ row }) => row.id), samples: 0, ...range };
  let listed: Correction | undefined;
  try {
    for (let at = 0; at < sensors.length; at += SENSORS_AT_ONCE) {
      const changes: Change[] = [];
      let samples = 0;
      for (const { key, row, newest } of sensors.slice(at, at + SENSORS_AT_ONCE)) {
        const found = await findSamples(deps, key, storedRange(range, newest), signal);
        const sensor = sensorOf(device, row.id);
        if (!sensor || found.hours.length === 0) continue;
        changes.push({ sensor, hours: found.hours });
        samples += found.samples;
      }
      if (changes.length === 0) continue;
      if (!isDry) listed ??= await corrections.log.list(device, { ...entry, ...request });
      removed.ids.push(...changes.map(({ sensor }) => sensor.id));
      removed.samples += samples;
      const running = listed;
      if (running)
        await corrections.write(device, running.revision, changes, () => corrections.log.prolong(running));
    }
  } finally {
    if (listed) await corrections.log.finish({ ...listed, sensors: removed.ids, samples: removed.samples });
  }
  return { length: removed.ids.length, samples: removed.samples };
}

interface FoundSamples {
  hours: RevisedHour[];
  samples: number;
}

/**
 * Finds the hours that have samples in the range. Statistics count a whole hour, so a year of a sensor takes no samples. A removal has a
 * span only where there is a sample, so a sample that is sent later to an empty hour is kept.
 * @throws the reason with which `signal` was aborted
 */
async function findSamples(
  { reading }: Pick<Core, 'reading'>,
  sensor: Sensor,
  range: Range,
  signal: AbortSignal,
): Promise<FoundSamples> {
  const found: FoundSamples = { hours: [], samples: 0 };
  const add = (hour: number, span: Span, samples: number) => {
    found.hours.push({ hour, spans: [span], samples: NO_SAMPLES });
    found.samples += samples;
  };
  for await (const hours of reading.hours(sensor, range, 'asc', LONGEST_MS)) {
    const [counted, others] = partition(hours, range);
    for (const { hour, exact } of counted) add(hour, { from: hour, to: hour + HOUR_MS }, exact?.count ?? 0);
    await forEachConcurrently(DAYS_AT_ONCE, daysOf(others), async (day) => {
      signal.throwIfAborted();
      const read = await reading.samplesOf(sensor, day);
      for (const [index, { times }] of read.entries()) {
        const inRange = Array.from(times).filter((time) => time >= range.from && time < range.to);
        const [first, last] = [inRange[0], inRange.at(-1)];
        if (first === undefined || last === undefined) continue;
        add(Number(day[index]?.hour), { from: first, to: last + 1 }, inRange.length);
      }
    });
  }
  found.hours.sort((a, b) => a.hour - b.hour);
  return found;
}

const NO_SAMPLES = { times: [], values: [] };

/** @returns hours whose statistics are enough, and the others */
function partition(hours: Hour[], { from, to }: Range): [Hour[], Hour[]] {
  const isCounted = ({ hour, exact }: Hour) => exact !== null && hour >= from && hour + HOUR_MS <= to;
  return [hours.filter(isCounted), hours.filter((hour) => !isCounted(hour))];
}

function daysOf(hours: Hour[]): Hour[][] {
  const days: Map<number, Hour[]> = new Map();
  for (const hour of hours) days.set(dayOf(hour.hour), [...(days.get(dayOf(hour.hour)) ?? []), hour]);
  return [...days.values()];
}
