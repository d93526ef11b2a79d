import { forEachConcurrently } from '../../common/concurrency.js';
import { identifySensor } from '../../schema/ids.js';
import { packHour } from '../../schema/packed/hour/pack-hour.js';
import { mergeSeries } from '../../schema/packed/series.js';
import { hourStatisticsOf } from '../../schema/packed/statistics.js';
import {
  bucketOf,
  dayOf,
  HOUR_MS,
  isExact,
  isLate,
  MAX_SAMPLES_PER_HISTORY_ROW,
  yearOf,
} from '../../schema/rules.js';
import { partitions } from './late-samples.js';
import { sensorOf } from './registry/cache.js';

/** @import { ErrorCode } from '../../common/errors.js' */
/** @import { Identity } from '../../schema/ids.js' */
/** @import { Series as Samples } from '../../schema/packed/series.js' */
/** @import { ClockGuard } from '../store/clock-guard.js' */
/** @import { SensorBytes } from '../store/history/keys.js' */
/** @import { HourRow } from '../store/history/reads.js' */
/** @import { Store } from '../store/index.js' */
/** @import { Retry } from '../store/sending/retry.js' */
/** @import { Publish } from './index.js' */
/** @import { LateDayNotes } from './late-samples.js' */
/** @import { Device, Sensor } from './registry/cache.js' */
/** @import { Described, Registry } from './registry/index.js' */
/** @import { SampleWriter, Series } from './sample-writer.js' */

/** Limits of sensors of a device, and of days of a sensor, that are written concurrently. */
const SENSORS_AT_ONCE = 8;
const DAYS_AT_ONCE = 4;

/** Longest time that a packer may take to read an hour, in ms. Statistics from a read that began within this time are not trusted. */
const READING_MS = HOUR_MS;

/** The samples of one sensor in one hour, with the indexes in [from, to). @typedef {{ hour: number, from: number, to: number }} Piece */

/**
 * Commits samples of imported files. Samples of closed hours are written directly to history, like late samples: first
 * the rows, then the mark that makes the statistics of the hour inexact, then the note for the packer. These samples
 * need no row of `message`, because a reader that sees the mark reads history, and a packer merges history. The mark
 * has the time after the commit of the rows. So statistics from a read that missed the rows are not trusted. Samples of
 * open hours are written like messages.
 */
export class ImportWriter {
  #deps;

  /**
   * @param {object} deps
   * @param {Pick<Store, 'packed' | 'write'>} deps.store
   * @param {Registry} deps.registry
   * @param {SampleWriter} deps.samples
   * @param {LateDayNotes} deps.days
   * @param {Retry} deps.retry
   * @param {ClockGuard} deps.clock
   * @param {Publish} deps.publish
   */
  constructor(deps) {
    this.#deps = deps;
  }

  /**
   * Finds the sensors of a device, and registers unknown sensors.
   *
   * @param {Identity} identity of the device
   * @param {Described} sensors type and unit of the sensors, by id or name
   * @param {{ site?: string }} options `site`: site for a new device
   * @returns {Promise<{ device: Device | null, known: Map<string, Sensor>, refused: Map<string, ErrorCode> }>}
   * @throws {MillraceError} `registration_limit`
   */
  async register(identity, sensors, { site }) {
    const { registry } = this.#deps;
    const refs = [...sensors.keys()];
    const device = await registry.device(identity, site);
    if (!device) return { device, known: new Map(), refused: refuseAll(refs, 'unknown_device') };
    /** @type {Map<string, Sensor>} */
    const known = new Map();
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

  /**
   * Finds the sensors of a device, and changes nothing.
   *
   * @param {Identity} identity
   * @param {string[]} refs ids or names of sensors
   * @returns {Promise<{ device: Device | null, known: Map<string, Sensor | null>, refused: Map<string, ErrorCode> }>} a sensor that
   *   `register` would register is null
   */
  async look(identity, refs) {
    const { registry } = this.#deps;
    const device = await registry.find(identity);
    if (!device && !registry.registersUnknown)
      return { device, known: new Map(), refused: refuseAll(refs, 'unknown_device') };
    /** @type {Map<string, Sensor | null>} */
    const known = new Map();
    /** @type {Map<string, ErrorCode>} */
    const refused = new Map();
    for (const ref of refs) {
      const sensor = device ? sensorOf(device, ref) : undefined;
      if (sensor || (registry.registersUnknown && identifySensor(identity.id, ref)))
        known.set(ref, sensor ?? null);
      else refused.set(ref, identifySensor(identity.id, ref) ? 'unknown_sensor' : 'bad_id');
    }
    return { device, known, refused };
  }

  /**
   * @param {Device} device
   * @param {Series[]} series one series for each sensor of the device
   * @returns {Promise<void>} settles when all samples are committed
   */
  async write(device, series) {
    const { clock, samples, store, publish } = this.#deps;
    const now = await clock.now();
    /** @type {Series[]} */
    const open = [];
    /** @type {Set<number>} */
    const late = new Set();
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

  /** @param {Device} device @param {Series} series @param {Piece[]} closed @returns {Promise<number[]>} changed hours, epoch ms */
  async #writeClosed(device, { sensor, times, values }, closed) {
    if (closed.length === 0) return [];
    const { store, retry, clock } = this.#deps;
    const key = { device: device.bytes, sensor };
    const state = { stored: await this.#statistics(key, closed), now: await clock.now() };
    /** @type {number[]} */
    const changed = [];
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

  /** @param {SensorBytes} key @param {Piece[]} pieces @returns {Promise<Map<number, HourRow>>} statistics and marks by hour */
  async #statistics(key, pieces) {
    const { store, retry } = this.#deps;
    /** @type {Map<number, HourRow>} */
    const found = new Map();
    for (const part of partitions(pieces, yearOf)) {
      const hours = part.map(({ hour }) => hour);
      const [from, to] = [Math.min(...hours), Math.max(...hours) + HOUR_MS];
      for (const row of await retry.run(() => store.packed.readStatistics(key, from, to)))
        found.set(row.hour, row);
    }
    return found;
  }

  /**
   * Leaves out hours whose samples are all in history, so that a repeated import of a file changes nothing.
   *
   * @param {SensorBytes} key
   * @param {Samples} samples
   * @param {Piece[]} pieces hours of one day
   * @param {{ stored: Map<number, HourRow>, now: number }} state `stored`: statistics and marks by hour; `now`: epoch ms
   * @returns {Promise<Piece[]>} the hours that still have to be written
   */
  async #notStored(key, samples, pieces, { stored, now }) {
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

/** @param {string[]} refs @param {ErrorCode} code @returns {Map<string, ErrorCode>} */
const refuseAll = (refs, code) => new Map(refs.map((ref) => [ref, code]));

/**
 * Checks whether the statistics count all samples of history. Otherwise the hour gets its rows and its mark again,
 * because an earlier import may have ended between these two writes, or a packer that is reading now may have missed
 * the rows.
 *
 * @param {HourRow} row
 * @param {Samples} there samples of the hour in history
 * @param {number} now epoch ms
 */
function isCounted(row, there, now) {
  if (!isExact(row) || row.statistics === null || Number(row.readFrom) > now - READING_MS) return false;
  const { count, sum } = hourStatisticsOf(there.values);
  return row.statistics.count === count && row.statistics.sum === sum;
}

/**
 * @param {Samples} there merged samples of the hour in history
 * @param {Samples} samples sorted samples of the file
 * @param {Piece} piece indexes of the hour in `samples`
 * @returns {boolean} whether history already has all samples of the piece
 */
function hasAll(there, { times, values }, { from, to }) {
  const piece = { times: times.slice(from, to), values: values.slice(from, to) };
  const merged = mergeSeries([there, piece]);
  return (
    merged.times.length === there.times.length &&
    merged.values.every((/** @type {number} */ value, /** @type {number} */ index) =>
      Object.is(value, there.values[index]),
    )
  );
}

/** Divides sorted times into hours. @param {Samples['times']} times epoch ms, sorted @returns {Piece[]} */
function piecesOf(times) {
  /** @type {Piece[]} */
  const pieces = [];
  for (let from = 0; from < times.length; ) {
    const hour = bucketOf(Number(times[from]));
    let to = from + 1;
    while (to < times.length && Number(times[to]) < hour + HOUR_MS) to++;
    pieces.push({ hour, from, to });
    from = to;
  }
  return pieces;
}

/** @param {Piece} piece @param {Samples} samples */
function rowsOf({ hour, from, to }, { times, values }) {
  const rows = [];
  for (let at = from; at < to; at += MAX_SAMPLES_PER_HISTORY_ROW) {
    const end = Math.min(to, at + MAX_SAMPLES_PER_HISTORY_ROW);
    rows.push({ hour, samples: packHour(hour, times, values, at, end) });
  }
  return rows;
}

/** @param {Series} series @param {number} from @returns {Series} */
const partOf = ({ known, sensor, times, values }, from) => ({
  known,
  sensor,
  times: times.slice(from),
  values: values.slice(from),
});

/** @param {Series} series */
const newestOf = ({ known, times, values }) => ({
  sensor: known,
  ts: Number(times.at(-1)),
  value: Number(values.at(-1)),
});
