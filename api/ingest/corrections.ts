import { forEachConcurrently } from '../../common/concurrency.ts';
import { MillraceError } from '../../common/errors.ts';
import type { Identity } from '../../schema/ids.ts';
import type { Series } from '../../schema/packed/series.ts';
import { bucketOf, HOUR_MS } from '../../schema/rules.ts';
import type { SensorKey } from '../store/history/keys.ts';
import type { CorrectedLatest, LatestEntry } from '../store/latest/corrected.ts';
import type { Retry } from '../store/sending/retry.ts';
import type { CorrectionLog, CorrectionRequest } from './correction-log.ts';
import type { MessageBatch } from './decode/message-batch.ts';
import type { Publish } from './index.ts';
import { type Device, type Sensor, sensorOf } from './registry/cache.ts';
import type { Registry } from './registry/index.ts';
import { resolveReplacement } from './replacement.ts';
import type { RevisedHour, RevisionWriter } from './revisions.ts';

type Newest = { ts: number; value: number };

/** The newest effective sample of a sensor. null: it has none. */
export type FindNewest = (sensor: SensorKey & { group: number }) => Promise<Newest | null>;

/** The change of one sensor, which may be registered no longer. */
export interface Change {
  sensor: Pick<Sensor, 'id' | 'bytes'>;
  hours: RevisedHour[];
}

type LatestChange = { sensor: Sensor; hours: RevisedHour[] };

/** Each may read many hours to find its newest sample. */
const SENSORS_AT_ONCE = 8;

/** Two processes that correct one sensor at the same time each need a few rounds. */
const MAX_ROUNDS = 20;

/** Corrections of stored samples: the rows of history, then `latest`, then the live stream. */
export class Corrections {
  #deps;
  readonly log;

  constructor(deps: {
    revisions: RevisionWriter;
    latest: CorrectedLatest;
    log: CorrectionLog;
    registry: Registry;
    findNewest: FindNewest;
    retry: Pick<Retry, 'run'>;
    publish: Publish;
    onReplaced: (samples: number) => void;
    /** settles when the rows of acknowledged samples of the device are written */
    settled: (id: string) => Promise<void>;
  }) {
    this.#deps = deps;
    this.log = deps.log;
  }

  /**
   * Gives the instants of a message these values, whatever was stored for them. Refusals are noted in the batch.
   * @throws `unknown_device`; `unavailable` while the process ends
   */
  async replaceBatch(identity: Identity, batch: MessageBatch, request: CorrectionRequest): Promise<void> {
    if (batch.sensors.size === 0) return;
    const { device, series } = await resolveReplacement(this.#deps.registry, identity, batch);
    if (series.length > 0) await this.replace(device, series, request);
  }

  /** Gives the instants of each series (one for each sensor) these values. @throws `unavailable` while the process ends */
  async replace(
    device: Device,
    series: Array<{ sensor: Sensor; samples: Series }>,
    request: CorrectionRequest,
  ) {
    const firsts = series.map(({ samples: { times } }) => Number(times[0]));
    const lasts = series.map(({ samples: { times } }) => Number(times[times.length - 1]));
    const samples = series.reduce((sum, { samples: { times } }) => sum + times.length, 0);
    const sensors = series.map(({ sensor }) => sensor.id);
    const range = { from: Math.min(...firsts), to: Math.max(...lasts) + 1 };
    const entry = { kind: 'replace' as const, sensors, ...range, samples, ...request };
    const correction = await this.log.list(device, entry);
    await this.write(
      device,
      correction.revision,
      series.map((one) => ({ sensor: one.sensor, hours: hoursOf(one.samples) })),
      // The database may be unavailable for long.
      () => this.log.prolong(correction),
    );
    await this.log.finish(correction);
    this.#deps.onReplaced(samples);
  }

  /**
   * Shows samples that arrived after a newer one was removed. `latest` ignores them, because their write timestamps are older than that of
   * the removal.
   */
  async showLate(device: Device, series: Array<{ known: Sensor } & Series>) {
    const changes = series.map(({ known, times, values }) => ({
      sensor: known,
      hours: hoursOf({ times, values }),
    }));
    const changed = await this.#correctLatest(device, changes);
    if (changed.length > 0) this.#deps.publish(device, changed, []);
  }

  /**
   * Settles when every reader of the database sees the correction. `check`: runs before each attempt to write rows, and may throw
   * @throws `unavailable` while the process ends
   */
  async write(device: Device, revision: number, changes: Change[], check?: () => Promise<void>) {
    const { revisions, publish } = this.#deps;
    const filled = changes.filter(({ hours }) => hours.length > 0);
    await revisions.write(
      device,
      revision,
      filled.map(({ sensor, hours }) => ({ sensor: sensor.bytes, hours })),
      check,
    );
    // Otherwise a sample that is corrected before its row is written would get into `latest` afterwards.
    await this.#deps.settled(device.id);
    const changed = await this.#correctLatest(
      device,
      filled.flatMap(({ sensor: { id }, hours }) => {
        const sensor = sensorOf(device, id);
        return sensor ? { sensor, hours } : [];
      }),
    );
    if (changed.length > 0) publish(device, changed, []);
  }

  /** @returns the sensors that show another sample now */
  async #correctLatest(device: Device, changes: LatestChange[]): Promise<Sensor[]> {
    const changed: Set<Sensor> = new Set();
    let open = changes;
    for (let round = 0; open.length > 0; round++) {
      if (round === MAX_ROUNDS)
        throw new MillraceError('busy', 'Others correct the same sensors. Try again.');
      const entries = await this.#deps.retry.run(() => this.#deps.latest.read(device));
      const next: LatestChange[] = [];
      await forEachConcurrently(SENSORS_AT_ONCE, open, async (change) => {
        const entry = entries.get(change.sensor.id) ?? NOTHING;
        if (await this.#isCorrected(device, change, entry)) return;
        next.push(change);
        changed.add(change.sensor);
      });
      // Each entry that was written is read and compared again, because another process may have written it as well.
      open = next;
    }
    return [...changed];
  }

  /** False: `entry` was not what it should be, and was written. */
  async #isCorrected(device: Device, { sensor, hours }: LatestChange, entry: LatestEntry): Promise<boolean> {
    if (!concerns(hours, entry.newest)) return true;
    const { retry, latest, findNewest } = this.#deps;
    const { bytes, group } = device;
    const newest = await retry.run(() => findNewest({ device: bytes, sensor: sensor.bytes, group }));
    const isSame = newest === null ? entry.newest === null : isEqual(newest, entry.newest);
    noteNewest(sensor, hours, newest, entry.newest);
    device.isCorrected = true;
    if (isSame) return true;
    await retry.run(() => latest.write(device, sensor.bytes, entry, newest));
    return false;
  }
}

const NOTHING = { newest: null, stamp: 0 } as LatestEntry;

/** An entry changes only if it shows a corrected instant, or if the correction has a newer sample. */
function concerns(hours: RevisedHour[], shown: Newest | null): boolean {
  if (shown === null) return true;
  return hours.some(
    ({ hour, spans, samples: { times }, undoes }) =>
      hour + HOUR_MS > shown.ts &&
      (undoes !== undefined ||
        spans.some(({ from, to }) => shown.ts >= from && shown.ts < to) ||
        Number(times.at(-1) ?? Number.NEGATIVE_INFINITY) > shown.ts ||
        times.includes(shown.ts)),
  );
}

const isEqual = (a: Newest, b: Newest | null): boolean => a.ts === b?.ts && Object.is(a.value, b.value);

/** A repeated old message must not change what this process shows: the database keeps the correction. */
function noteNewest(sensor: Sensor, hours: RevisedHour[], newest: Newest | null, shown: Newest | null) {
  const ends = hours.flatMap(({ spans, samples: { times }, undoes }) => [
    undoes === undefined ? Number.NEGATIVE_INFINITY : Math.max(newest?.ts ?? 0, shown?.ts ?? 0),
    ...spans.map(({ to }) => to - 1),
    Number(times.at(-1) ?? Number.NEGATIVE_INFINITY),
  ]);
  const until = Math.max(...ends);
  // A newer sample may have arrived meanwhile.
  if (sensor.ts !== null && sensor.ts > Math.max(until, newest?.ts ?? 0)) return;
  sensor.correctedUntil = Math.max(until, sensor.correctedUntil ?? until);
  sensor.ts = newest?.ts ?? null;
  sensor.value = newest?.value ?? null;
}

/** @param samples sorted */
function hoursOf({ times, values }: Series): RevisedHour[] {
  const hours: RevisedHour[] = [];
  for (let from = 0; from < times.length; ) {
    const hour = bucketOf(Number(times[from]));
    let to = from + 1;
    while (to < times.length && Number(times[to]) < hour + HOUR_MS) to++;
    hours.push({
      hour,
      spans: [],
      samples: { times: times.slice(from, to), values: values.slice(from, to) },
    });
    from = to;
  }
  return hours;
}
