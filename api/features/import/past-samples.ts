import { forEachConcurrently } from '../../../common/concurrency.ts';
import type { ErrorCode } from '../../../common/errors.ts';
import { type Identity, identifySensor } from '../../../schema/ids.ts';
import { encodeHour } from '../../../schema/packed/hour/encode-hour.ts';
import { mergeSeries, type Series as Samples } from '../../../schema/packed/series.ts';
import { hourStatisticsOf } from '../../../schema/packed/statistics.ts';
import {
  bucketOf,
  dayOf,
  HOUR_MS,
  isExact,
  isLate,
  MAX_SAMPLES_PER_HISTORY_ROW,
  yearOf,
} from '../../../schema/rules.ts';
import { type Ingest, partitions } from '../../ingest/index.ts';
import type { Device, Sensor } from '../../ingest/registry/cache.ts';
import { type Described, sensorOf } from '../../ingest/registry/index.ts';
import type { Series } from '../../ingest/sample-writer.ts';
import type { SensorKey } from '../../store/history/keys.ts';
import type { HourRow } from '../../store/history/reads.ts';
import type { Store } from '../../store/index.ts';

/** written concurrently, of a device and of a sensor */
const SENSORS_AT_ONCE = 8;
const DAYS_AT_ONCE = 4;

/** A packer may take this long to read an hour. Statistics from a read that began within this time are not trusted. */
const READING_MS = HOUR_MS;

/** indexes in [from, to) */
type Piece = { hour: number; from: number; to: number };

/**
 * Samples of closed hours are written directly to history, like late samples: first the rows, then the mark that makes
 * the statistics of the hour inexact, then the note for the packer. These samples need no row of `message`, because a
 * reader that sees the mark reads history, and a packer merges history. The mark has the time after the commit of the
 * rows, so statistics from a read that missed the rows are not trusted. Samples of open hours are written like
 * messages.
 */
export class PastSamples {
  #deps;

  constructor({
    store,
    writing,
  }: { store: Pick<Store, 'packed' | 'write' | 'retry'>; writing: Ingest['writing'] }) {
    this.#deps = { ...writing, store, retry: store.retry };
  }

  /** Registers unknown sensors. `sensors`: type and unit by id or name. @throws `registration_limit` */
  async register(
    identity: Identity,
    sensors: Described,
    { site }: { site?: string },
  ): Promise<{ device: Device | null; known: Map<string, Sensor>; refused: Map<string, ErrorCode> }> {
    const { registry } = this.#deps;
    const refs = [...sensors.keys()];
    const device = await registry.device(identity, site);
    if (!device) return { device, known: new Map(), refused: refuseAll(refs, 'unknown_device') };
    const known: Map<string, Sensor> = new Map();
    for (const ref of refs) {
      const sensor = sensorOf(device, ref);
      if (sensor) known.set(ref, sensor);
    }
    const missing = refs.filter((ref) => !known.has(ref));
    if (missing.length === 0) return { device, known, refused: new Map() };
    const registered = await registry.register(device, missing, sensors);
    for (const [ref, sensor] of registered.known) known.set(ref, sensor);
    return { device, known, refused: registered.refused };
  }

  /** Changes nothing. A sensor that `register` would register is null. */
  async look(
    identity: Identity,
    refs: string[],
  ): Promise<{ device: Device | null; known: Map<string, Sensor | null>; refused: Map<string, ErrorCode> }> {
    const { registry } = this.#deps;
    const device = await registry.find(identity);
    if (!device && !registry.registersUnknown)
      return { device, known: new Map(), refused: refuseAll(refs, 'unknown_device') };
    const known: Map<string, Sensor | null> = new Map();
    const refused: Map<string, ErrorCode> = new Map();
    for (const ref of refs) {
      const sensor = device ? sensorOf(device, ref) : undefined;
      if (sensor || (registry.registersUnknown && identifySensor(identity.id, ref)))
        known.set(ref, sensor ?? null);
      else refused.set(ref, identifySensor(identity.id, ref) ? 'unknown_sensor' : 'bad_id');
    }
    return { device, known, refused };
  }

  /** One series for each sensor. Settles when all samples are committed. */
  async write(device: Device, series: Series[]): Promise<void> {
    const { clock, samples, store, publish } = this.#deps;
    const now = await clock.now();
    const open: Series[] = [];
    const late: Set<number> = new Set();
    await forEachConcurrently(SENSORS_AT_ONCE, series, async (one) => {
      const pieces = piecesOf(one.times);
      const closed = pieces.filter(({ hour }) => isLate(hour, now));
      const [firstOpen] = pieces.slice(closed.length);
      if (firstOpen) open.push(partOf(one, firstOpen.from));
      for (const hour of await this.#writeClosed(device, one, closed)) late.add(hour);
    });
    if (late.size > 0) await this.#deps.days.note(device, [...late]);
    if (open.length > 0) await samples.write(device, open);
    const changed = await store.write.latest(device, series.map(newestOf));
    // A file may have years of samples, so live topics get only the newest sample of each sensor.
    if (changed.length > 0) publish(device, changed, []);
  }

  async #writeClosed(device: Device, { sensor, times, values }: Series, closed: Piece[]): Promise<number[]> {
    if (closed.length === 0) return [];
    const { store, retry, clock } = this.#deps;
    const key = { device: device.bytes, sensor };
    const state = { stored: await this.#statistics(key, closed), now: await clock.now() };
    const changed: number[] = [];
    await forEachConcurrently(DAYS_AT_ONCE, partitions(closed, dayOf), async (pieces) => {
      const fresh = await this.#notStored(key, { times, values }, pieces, state);
      const rows = fresh.flatMap((piece) => rowsOf(piece, { times, values }));
      if (rows.length === 0) return;
      await retry.run(() => store.write.history.writeSamples(key, rows));
      changed.push(...fresh.map(({ hour }) => hour));
    });
    // The clock is read after the commit, because a packer that began to read before the commit may have missed these rows.
    const at = await clock.now();
    for (const hours of partitions(
      changed.map((hour) => ({ hour })),
      yearOf,
    )) {
      const marked = hours.map(({ hour }) => hour);
      await retry.run(() => store.write.history.writeLate(key, marked, at));
    }
    return changed;
  }

  async #statistics(key: SensorKey, pieces: Piece[]): Promise<Map<number, HourRow>> {
    const { store, retry } = this.#deps;
    const found: Map<number, HourRow> = new Map();
    for (const part of partitions(pieces, yearOf)) {
      const hours = part.map(({ hour }) => hour);
      const [from, to] = [Math.min(...hours), Math.max(...hours) + HOUR_MS];
      for (const row of await retry.run(() => store.packed.readStatistics(key, from, to)))
        found.set(row.hour, row);
    }
    return found;
  }

  /** Leaves out hours whose samples are all in history, so that storing a file again changes nothing. */
  async #notStored(
    key: SensorKey,
    samples: Samples,
    pieces: Piece[],
    { stored, now }: { stored: Map<number, HourRow>; now: number },
  ): Promise<Piece[]> {
    const candidates = pieces.filter(({ hour }) => stored.has(hour));
    if (candidates.length === 0) return pieces;
    const hours = candidates.map(({ hour }) => hour);
    const [from, to] = [Math.min(...hours), Math.max(...hours) + HOUR_MS];
    const { store, retry } = this.#deps;
    const history = await retry.run(() => store.packed.readSamples(key, from, to));
    return pieces.filter((piece) => {
      const row = stored.get(piece.hour);
      const there = mergeSeries(history.get(piece.hour) ?? []);
      return !row || !hasAll(there, samples, piece) || !isCounted(row, there, now);
    });
  }
}

const refuseAll = (refs: string[], code: ErrorCode): Map<string, ErrorCode> =>
  new Map(refs.map((ref) => [ref, code]));

/**
 * The statistics count all samples of history. Otherwise the hour gets its rows and its mark again: an earlier write
 * may have ended between these two writes, or a packer that is reading now may have missed the rows.
 */
function isCounted(row: HourRow, there: Samples, now: number) {
  if (!isExact(row) || row.statistics === null || Number(row.readFrom) > now - READING_MS) return false;
  const { count, sum } = hourStatisticsOf(there.values);
  return row.statistics.count === count && row.statistics.sum === sum;
}

/** `there`: merged samples of the hour in history; `samples`: sorted samples of the file */
function hasAll(there: Samples, { times, values }: Samples, { from, to }: Piece): boolean {
  const piece = { times: times.slice(from, to), values: values.slice(from, to) };
  const merged = mergeSeries([there, piece]);
  return (
    merged.times.length === there.times.length &&
    merged.values.every((value: number, index: number) => Object.is(value, there.values[index]))
  );
}

/** The times are sorted. */
function piecesOf(times: Samples['times']): Piece[] {
  const pieces: Piece[] = [];
  for (let from = 0; from < times.length; ) {
    const hour = bucketOf(Number(times[from]));
    let to = from + 1;
    while (to < times.length && Number(times[to]) < hour + HOUR_MS) to++;
    pieces.push({ hour, from, to });
    from = to;
  }
  return pieces;
}

function rowsOf({ hour, from, to }: Piece, { times, values }: Samples) {
  const rows = [];
  for (let at = from; at < to; at += MAX_SAMPLES_PER_HISTORY_ROW) {
    const end = Math.min(to, at + MAX_SAMPLES_PER_HISTORY_ROW);
    rows.push({ hour, samples: encodeHour(hour, times, values, at, end) });
  }
  return rows;
}

const partOf = ({ known, sensor, times, values }: Series, from: number): Series => ({
  known,
  sensor,
  times: times.slice(from),
  values: values.slice(from),
});

const newestOf = ({ known, times, values }: Series) => ({
  sensor: known,
  ts: Number(times.at(-1)),
  value: Number(values.at(-1)),
});
