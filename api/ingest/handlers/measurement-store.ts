import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { isAscending, sortKeepLast, sortMerge } from '../../../schema/packed/series.js';
import { bucketOf, HOUR_MS, isLate, SENSORS_PER_PART } from '../../../schema/rules.js';
import { joinSamples } from '../decode/message-batch.js';
import { sensorOf } from '../registry/cache.js';

/** @import { ErrorCode } from '../../../common/errors.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { Numbers } from '../../../schema/packed/series.js' */
/** @import { Metrics } from '../../observability/metrics.js' */
/** @import { MeasurementCounts, ProcessStats } from '../../observability/process-stats.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { Hour } from '../../store/measurements/hours.js' */
/** @import { Retry } from '../../store/sending/retry.js' */
/** @import { MessageBatch, SensorSamples } from '../decode/message-batch.js' */
/** @import { Publish } from '../index.js' */
/** @import { Arrival } from '../pipeline.js' */
/** @import { Receipt, ReceiptTimes } from '../receipt-times.js' */
/** @import { Device, Sensor } from '../registry/cache.js' */
/** @import { Registry } from '../registry/index.js' */
/** @import { Statuses } from '../registry/status.js' */
/** @import { SampleWriter, Series } from '../sample-writer.js' */
/** @import { Kept } from './index.js' */

/**
 * Receives the samples of each message, for the evaluation of alarm rules.
 *
 * @typedef {object} SampleObserver
 * @property {(device: Device, series: Series[], seenAt: number | null) => Promise<void> | undefined} note writes notes about the samples
 *   that must be evaluated after a crash. It runs concurrently with the commit, and ends before the acknowledgement. `undefined`: there is
 *   nothing to note. `seenAt`: epoch ms at which the device was seen; null: all samples are noted
 * @property {(device: Device, series: Series[]) => void} observe called after the commit; must return at once
 */

/**
 * Longest wait in ms of a message for the clock to reach its instants. Acknowledgements leave in order of arrival, so all later messages of
 * its connection wait too, and the session at an external broker has the messages of all devices.
 */
const MAX_CLOCK_WAIT_MS = 1000;

/** Interval in ms at which a message that waits for the clock checks whether the process ends. */
const MAX_SLEEP_MS = 1000;

/**
 * Duration of a commit in ms above which its samples are noted for alarms again. After a crash, another process reads the notes of the last
 * hours and the recently seen devices. It would miss samples of a commit that took hours, because the database was unavailable.
 */
const SLOW_COMMIT_MS = 30_000;

/**
 * Stores the good measurements of a batch in three steps: resolve, write, publish. Two cases take additional steps: new sensors
 * (`#register`), and late samples (`SampleWriter.finish`).
 */
export class MeasurementStore {
  #deps;
  #clock;
  #metrics;
  #processStats;
  /** @type {SampleObserver | null} */
  #observer = null;
  /**
   * The newest lookup of each device that was not in memory, by the id of the device. Later messages of the device wait for this lookup, so
   * that values without a time get their instants in the order of arrival.
   *
   * @type {Map<string, Promise<Device | null>>}
   */
  #lookUps = new Map();

  /**
   * @param {object} context
   * @param {() => number} context.clock epoch ms
   * @param {Metrics} context.metrics
   * @param {ProcessStats} context.processStats
   * @param {object} deps
   * @param {Registry} deps.registry
   * @param {Statuses} deps.statuses
   * @param {ReceiptTimes} deps.receiptTimes
   * @param {SampleWriter} deps.samples
   * @param {Store['write']} deps.write
   * @param {Retry} deps.retry
   * @param {Publish} deps.publish
   */
  constructor({ clock, metrics, processStats }, deps) {
    this.#deps = deps;
    this.#clock = clock;
    this.#metrics = metrics;
    this.#processStats = processStats;
  }

  /** @param {SampleObserver | null} observer null: no observer, so a message costs no additional time */
  setSampleObserver(observer) {
    this.#observer = observer;
  }

  /**
   * Resolves, writes and publishes the good measurements of a batch. This function and the next three are not async, because most
   * messages wait only for their writes: see `pipeline.js`.
   *
   * @param {Identity} identity
   * @param {MessageBatch} batch
   * @param {Arrival} arrival relative times count from its `receivedAt`
   * @param {Receipt} receipt
   * @returns {Promise<boolean>} settles when the batch is committed; false: the device is not registered, so the whole batch is refused
   */
  store(identity, batch, arrival, receipt) {
    const before = this.#lookUps.get(identity.id);
    const known = before ? undefined : this.#deps.registry.cache.peek(identity.id);
    if (known || batch.sensors.size === 0)
      return this.#storeTimed(known ?? null, identity, batch, arrival, receipt);
    return this.#lookUp(identity, before, (device) =>
      this.#storeTimed(device, identity, batch, arrival, receipt),
    );
  }

  /**
   * Gives values without a time their instants, and stores the batch.
   *
   * @param {Device | null} device null: the device is not registered
   * @param {Identity} identity
   * @param {MessageBatch} batch
   * @param {Arrival} arrival
   * @param {Receipt} receipt
   * @returns {Promise<boolean>}
   */
  #storeTimed(device, identity, batch, arrival, receipt) {
    const waitMs = batch.untimed
      ? this.#deps.receiptTimes.place(batch, identity, device, arrival.receivedAt, receipt)
      : 0;
    if (waitMs > MAX_CLOCK_WAIT_MS) {
      for (const ref of batch.untimed?.keys() ?? []) batch.refuseSensor(ref, 'in_future');
    } else if (waitMs > 0) return this.#wait(waitMs).then(() => this.#storeResolved(device, batch, arrival));
    return this.#storeResolved(device, batch, arrival);
  }

  /**
   * Finds the sensors of a batch, and stores the batch.
   *
   * @param {Device | null} device null: the device is not registered
   * @param {MessageBatch} batch
   * @param {Arrival} arrival
   * @returns {Promise<boolean>}
   */
  #storeResolved(device, batch, arrival) {
    if (batch.sensors.size === 0) return Promise.resolve(true);
    if (!device) {
      for (const ref of [...batch.sensors.keys()]) batch.refuseSensor(ref, 'unknown_device');
      return Promise.resolve(false);
    }
    const resolved = this.#resolve(device, batch);
    if (Array.isArray(resolved)) return this.#commit(device, batch, resolved, arrival);
    return resolved.then((series) => this.#commit(device, batch, series, arrival));
  }

  /**
   * Writes a batch, and publishes its samples after the commit.
   *
   * @param {Device} device
   * @param {MessageBatch} batch
   * @param {Series[]} series
   * @param {Arrival} arrival
   * @returns {Promise<boolean>} true
   */
  #commit(device, batch, series, arrival) {
    const seenAt = seenAtOf(arrival);
    countMerged(batch, series);
    const began = Date.now();
    const noted = this.#observer?.note(device, series, seenAt);
    const written = this.#isOneTimelyRow(device, series)
      ? this.#write(device, series, seenAt)
      : this.#writeInOrder(device, series, seenAt, began);
    const committed = noted ? Promise.all([written, noted]).then(([first]) => first) : written;
    return committed.then(([changed, hours]) => {
      const late = this.#deps.samples.finish(device, hours, began);
      if (!late) return this.#settle(device, batch, series, changed, arrival);
      return late.then(() => this.#settle(device, batch, series, changed, arrival));
    });
  }

  /**
   * Finishes a committed batch. If the commit was slow, the samples are noted for alarms again. Then the device is set online, and the
   * samples are published.
   *
   * @param {Device} device
   * @param {MessageBatch} batch
   * @param {Series[]} series
   * @param {Sensor[]} changed the sensors that have a newer value now
   * @param {Arrival} arrival
   * @returns {Promise<boolean> | boolean} true
   */
  #settle(device, batch, series, changed, arrival) {
    const isSlow = this.#observer !== null && this.#clock() - arrival.receivedAt > SLOW_COMMIT_MS;
    const noted = isSlow ? this.#observer?.note(device, series, null) : undefined;
    if (noted) return noted.then(() => this.#settleNoted(device, batch, series, changed, arrival));
    return this.#settleNoted(device, batch, series, changed, arrival);
  }

  /**
   * Sets an offline device online, and publishes a committed batch.
   *
   * @param {Device} device
   * @param {MessageBatch} batch
   * @param {Series[]} series
   * @param {Sensor[]} changed the sensors that have a newer value now
   * @param {Arrival} arrival
   * @returns {Promise<boolean> | boolean} true
   */
  #settleNoted(device, batch, series, changed, arrival) {
    const seenAt = seenAtOf(arrival);
    if (device.state !== 'offline' || arrival.as !== 'live')
      return this.#publish(device, batch, series, changed, seenAt);
    const online = this.#deps.statuses.setOnline(device, arrival);
    return online.then(() => this.#publish(device, batch, series, changed, seenAt));
  }

  /**
   * Passes a committed batch to alarms and live clients, and counts its samples.
   *
   * @param {Device} device
   * @param {MessageBatch} batch
   * @param {Series[]} series
   * @param {Sensor[]} changed the sensors that have a newer value now
   * @param {number | null} seenAt epoch ms at which the device was seen; null: it was not seen now
   * @returns {true}
   */
  #publish(device, batch, series, changed, seenAt) {
    this.#observer?.observe(device, series);
    this.#deps.publish(device, changed, series);
    this.#count(batch, series, seenAt);
    return true;
  }

  /**
   * Looks up the device of a message after the lookups of earlier messages of this device. `store` is called in the same microtask in
   * which later messages stop waiting. So no later message gets its instants earlier.
   *
   * @template T
   * @param {Identity} identity
   * @param {Promise<unknown> | undefined} before lookup of the previous message; undefined: no lookup is running
   * @param {(device: Device | null) => Promise<T>} store null: the device is not registered
   * @returns {Promise<T>}
   * @throws {MillraceError} `registration_limit`
   */
  #lookUp(identity, before, store) {
    const find = () => this.#deps.registry.device(identity);
    const found = before ? before.then(find, find) : find();
    this.#lookUps.set(identity.id, found);
    const leave = () => {
      if (this.#lookUps.get(identity.id) === found) this.#lookUps.delete(identity.id);
    };
    return found.then(
      (device) => {
        leave();
        return store(device);
      },
      (error) => {
        leave();
        throw error;
      },
    );
  }

  /** Waits until the clock reaches the instants of a message. @param {number} ms @throws {MillraceError} `unavailable`: the process ends */
  async #wait(ms) {
    for (let left = ms; left > 0; left -= MAX_SLEEP_MS) {
      await sleep(Math.min(left, MAX_SLEEP_MS), undefined, { ref: false });
      if (this.#deps.retry.isAborted) throw new MillraceError('unavailable');
    }
  }

  /**
   * Finds the sensors of a batch. Returns a promise only if sensors must be registered.
   *
   * @param {Device} device
   * @param {MessageBatch} batch
   * @returns {Series[] | Promise<Series[]>} one series for each sensor, even if the message names a sensor by name and by id
   */
  #resolve(device, batch) {
    // The array is created with its final size. An array that grows to 50 sensors is copied three times.
    /** @type {Series[]} */
    const series = new Array(batch.sensors.size);
    let count = 0;
    for (const [ref, { times, values }] of batch.sensors) {
      const known = sensorOf(device, ref);
      // A message may name a sensor by its id and by its name. Two names never belong to one sensor, so names alone need no map.
      if (!known || known.id === ref) return this.#resolveEach(device, batch);
      series[count++] = seriesOf(known, times, values);
    }
    return this.#sort(series, batch);
  }

  /**
   * Finds the sensors of a batch that has ids or new sensors.
   *
   * @param {Device} device
   * @param {MessageBatch} batch
   * @returns {Series[] | Promise<Series[]>}
   */
  #resolveEach(device, batch) {
    /** @type {Map<Sensor, SensorSamples>} */
    const found = new Map();
    /** @type {string[]} */
    const missing = [];
    for (const [ref, samples] of batch.sensors) {
      const known = sensorOf(device, ref);
      if (known) addSamples(found, known, samples);
      else missing.push(ref);
    }
    if (missing.length === 0) return this.#toSeries(found, batch);
    return this.#register(device, batch, missing, found);
  }

  /**
   * @param {Device} device
   * @param {MessageBatch} batch
   * @param {string[]} refs ids or names of sensors that are not registered
   * @param {Map<Sensor, SensorSamples>} found samples of the registered sensors
   */
  async #register(device, batch, refs, found) {
    const { known, refused } = await this.#deps.registry.register(device, refs);
    for (const [ref, code] of refused) batch.refuseSensor(ref, code);
    for (const [ref, sensor] of known)
      addSamples(found, sensor, /** @type {SensorSamples} */ (batch.sensors.get(ref)));
    return this.#toSeries(found, batch);
  }

  /** @param {Map<Sensor, SensorSamples>} found @param {MessageBatch} batch @returns {Series[]} */
  #toSeries(found, batch) {
    const series = Array.from(found, ([known, { times, values }]) => seriesOf(known, times, values));
    return this.#sort(series, batch);
  }

  /** Sorts each series, and merges equal instants. @param {Series[]} list is changed @param {MessageBatch} batch @returns {Series[]} */
  #sort(list, { keepsLast }) {
    for (const series of list) {
      // Most series are already sorted.
      if (isAscending(series.times)) continue;
      const sort = keepsLast ? sortKeepLast : sortMerge;
      const { times, values, conflicts } = sort(series.times, series.values);
      if (conflicts > 0) this.#metrics.conflicts.inc(conflicts);
      series.times = times;
      series.values = values;
      series.to = times.length;
    }
    return list;
  }

  /**
   * Commits the samples, the newest values and the time when the device was last seen. The three writes run concurrently.
   *
   * @param {Device} device
   * @param {Series[]} series
   * @param {number | null} seenAt epoch ms; null: the device was not seen now
   * @returns {Promise<[changed: Sensor[], hours: Hour[], ...others: unknown[]]>} the sensors that have a newer value now, and the hours of
   *   the samples
   */
  #write(device, series, seenAt) {
    const { samples, write } = this.#deps;
    const rows = samples.commit(device, series);
    const latest = write.latest(device, series.map(newestOf));
    const seen = seenAt === null ? undefined : write.lastSeen(device, seenAt);
    // `seen` is nearly always undefined, because the time was written less than a minute ago.
    return seen ? Promise.all([latest, rows, seen]) : Promise.all([latest, rows]);
  }

  /**
   * Returns whether the samples are one row of `message`, and readers find them there. This row and its row of `latest` are usually one
   * request, and the row of `latest` is never sent long before.
   *
   * @param {Device} device
   * @param {Series[]} series
   * @returns {boolean}
   */
  #isOneTimelyRow(device, series) {
    if (device.sensors.size > SENSORS_PER_PART) return false;
    let oldest = Number.POSITIVE_INFINITY;
    let newest = Number.NEGATIVE_INFINITY;
    for (const { times } of series) {
      oldest = Math.min(oldest, /** @type {number} */ (times[0]));
      newest = Math.max(newest, /** @type {number} */ (times[times.length - 1]));
    }
    const bucket = bucketOf(oldest);
    return newest - bucket < HOUR_MS && !isLate(bucket, this.#clock());
  }

  /**
   * Commits the samples, also to history, and only then the newest values. Otherwise `latest` could show a sample that no reader finds, if
   * the process ends between two requests.
   *
   * @param {Device} device
   * @param {Series[]} series
   * @param {number | null} seenAt epoch ms; null: the device was not seen now
   * @param {number} began time before the commit, in epoch ms
   * @returns {Promise<[changed: Sensor[], hours: Hour[]]>} `hours`: none, because late samples are committed to history
   */
  async #writeInOrder(device, series, seenAt, began) {
    const { samples, write } = this.#deps;
    const seen = seenAt === null ? undefined : write.lastSeen(device, seenAt);
    const [hours] = await Promise.all([samples.commit(device, series), seen]);
    await samples.finish(device, hours, began);
    return [await write.latest(device, series.map(newestOf)), []];
  }

  /** @param {MessageBatch} batch @param {Series[]} series @param {number | null} seenAt epoch ms */
  #count({ counts }, series, seenAt) {
    this.#metrics.samples.add(counts.samples);
    if (counts.merged > 0) this.#metrics.merged.inc(counts.merged);
    // End-to-end latency does not count replays, retained copies, and messages without samples.
    if (seenAt !== null && series.length > 0) {
      const waitedMs = Math.max(0, this.#clock() - newestOfAll(series));
      this.#metrics.endToEndSeconds.observe(waitedMs / 1000);
    }
    if (counts.skipped > 0) this.#metrics.skipped.inc(counts.skipped);
    if (counts.relative > 0) this.#metrics.relative.inc(counts.relative);
  }

  /** Counts a settled message for the dashboard. @param {MessageBatch} batch @param {number} began by `performance.now()` */
  noteSettled(batch, began) {
    this.#processStats.note(batch.measurementCounts(), performance.now() - began);
  }

  /**
   * Counts a message of a client that waits for the answer, such as an HTTP client. The answer contains the refusals.
   *
   * @template {{ accepted: number, refused: Array<{ code: ErrorCode }> }} T
   * @param {T} result
   * @param {MeasurementCounts} counts
   * @param {number} began by `performance.now()`
   * @returns {T} the result
   */
  noteAnswered(result, counts, began) {
    for (const { code } of result.refused) this.#metrics.refused.inc({ code });
    const commitMs = performance.now() - began;
    this.#processStats.note(counts, commitMs);
    this.#metrics.commitSeconds.observe(commitMs / 1000);
    return result;
  }

  /**
   * Stores the refused measurements of an earlier message.
   *
   * @param {Identity} identity
   * @param {MessageBatch} batch is changed
   * @param {Pick<Kept, 'receivedAt' | 'isRefused'>} kept
   */
  async storeAgain(identity, batch, { receivedAt, isRefused }) {
    const receipt = { from: receivedAt };
    // The refused measurements get the same instants as at the receipt only if all measurements of the message are placed.
    const device = this.#deps.registry.cache.peek(identity.id);
    this.#deps.receiptTimes.place(batch, identity, device, receivedAt, receipt);
    batch.untimed = null;
    if (isRefused) batch.keepOnly(isRefused);
    await this.store(identity, batch, { receivedAt, as: 'replayed' }, receipt);
  }
}

/**
 * Returns when a message shows that its device is active. A copy that the broker retained and a replay do not show it.
 *
 * @param {Arrival} arrival
 * @returns {number | null} epoch ms at which the device was seen; null: it was not seen now
 */
const seenAtOf = ({ as, receivedAt }) => (as === 'retained' || as === 'replayed' ? null : receivedAt);

/** @param {Sensor} known @param {Numbers} times epoch ms @param {Numbers} values @returns {Series} */
const seriesOf = (known, times, values) => ({
  known,
  sensor: known.bytes,
  times,
  values,
  from: 0,
  to: times.length,
});

/** @param {Series} series */
const newestOf = ({ known, times, values }) => ({
  sensor: known,
  ts: /** @type {number} */ (times[times.length - 1]),
  value: /** @type {number} */ (values[values.length - 1]),
});

/**
 * Adds samples of a sensor. A message may also have samples of this sensor under its other reference (id or name).
 *
 * @param {Map<Sensor, SensorSamples>} found
 * @param {Sensor} sensor
 * @param {SensorSamples} samples
 */
function addSamples(found, sensor, samples) {
  const others = found.get(sensor);
  found.set(sensor, others ? joinSamples(others, samples) : samples);
}

/** @param {Series[]} series @returns {number} epoch ms of the newest sample */
function newestOfAll(series) {
  let newest = Number.NEGATIVE_INFINITY;
  for (const { times } of series) newest = Math.max(newest, /** @type {number} */ (times[times.length - 1]));
  return newest;
}

/** Counts merged samples: equal instants of a sensor are stored as one sample. @param {MessageBatch} batch @param {Series[]} series */
function countMerged({ counts }, series) {
  let stored = 0;
  for (const { times } of series) stored += times.length;
  counts.merged = counts.samples - stored;
  counts.samples = stored;
}
