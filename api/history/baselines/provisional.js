import { setTimeout as sleep } from 'node:timers/promises';
import { uuidBytes } from '../../../schema/ids.js';
import { bucketOf, HOUR_MS } from '../../../schema/rules.js';
import { Retry } from '../../store/index.js';
import { Steps } from '../packing/steps.js';
import { learnRecent, missingMs, readRecent, WINDOW_MS } from './recent.js';
import { sigmasOf } from './table.js';

/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Context } from '../../observability/index.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { Rest } from '../packing/steps.js' */
/** @import { RecentBaseline } from './recent.js' */

/**
 * Shortest and longest pause before the samples of a device are read again, in ms. The pause is half of the time that the
 * last samples cover. So the baseline follows a drift.
 */
const SHORTEST_WAIT_MS = 15_000;
const LONGEST_WAIT_MS = WINDOW_MS / 2;

/** Longest time, in ms, for which an ending process waits for a read that the database does not answer. */
const STOP_WITHIN_MS = 3000;

/**
 * A device with sensors that have no learned baseline.
 *
 * @typedef {object} Device
 * @property {string} id
 * @property {string[]} keys keys of the sensors without a learned baseline
 * @property {number} seenAt time of the newest value that was judged, in epoch ms
 * @property {number} dueAt time of the next read, in epoch ms
 */

/** @typedef {{ device: Device, baseline: RecentBaseline | null }} Sensor `baseline` is null if too few samples were read so far */

/**
 * Called when the baselines of some sensors have changed.
 *
 * @callback OnJudged
 * @param {readonly string[]} keys
 */

/**
 * Computes provisional baselines, from the last hours, for sensors without a learned baseline. The samples are read from
 * the database, device by device, and only for sensors whose values a client follows. Because they come from the
 * database, a restarted process has the baselines at once, and all processes judge by the same samples. After each
 * request the reader rests, as learning does, so that ingest never waits for these reads.
 */
export class ProvisionalBaselines {
  #store;
  #clock;
  #logger;
  #everyMs;
  #isLearned;
  #onJudged;
  #steps;
  /** @type {Map<string, Device>} devices by id */
  #devices = new Map();
  /** @type {Map<string, Sensor>} sensors by key, `device id/sensor id` */
  #sensors = new Map();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  /** @type {Promise<void>} */
  #round = Promise.resolve();
  /**
   * Due time of the device that is being read, in epoch ms; null: no device is being read.
   *
   * @type {number | null}
   */
  #dueSince = null;

  /**
   * @param {Pick<Context, 'clock' | 'logger' | 'metrics'>} context
   * @param {object} deps
   * @param {Pick<Store, 'samples'>} deps.store
   * @param {number} deps.everyMs time between two checks for devices that are due
   * @param {Rest | undefined} deps.rest waits between two requests
   * @param {(key: string) => boolean} deps.isLearned whether a sensor has a learned baseline
   * @param {OnJudged} deps.onJudged
   */
  constructor({ clock, logger, metrics }, { store, everyMs, rest, isLearned, onJudged }) {
    this.#store = store;
    this.#clock = clock;
    this.#logger = logger;
    this.#everyMs = everyMs;
    this.#isLearned = isLearned;
    this.#onJudged = onJudged;
    const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
    this.#steps = new Steps({ retry, isPressed: () => true, overdueMs: () => this.#overdueMs(), rest });
    metrics.gauge(
      'iot_baseline_provisional_sensors',
      'Sensors that this process judges by their last hours, because they have no learned baseline',
      () => this.#judged(),
    );
    metrics.gauge(
      'iot_baseline_provisional_lag_seconds',
      'Time for which the device that is read for provisional baselines has been due',
      () => this.#overdueMs() / 1000,
    );
  }

  start() {
    this.#lookLater();
  }

  /** Stops after the request in progress. */
  async stop() {
    clearTimeout(this.#timer);
    this.#steps.stop();
    await Promise.race([this.#round, sleep(STOP_WITHIN_MS, undefined, { ref: false })]);
  }

  /**
   * Returns the baseline of a sensor. If it is unknown, its samples are read soon.
   *
   * @param {string} key `device id/sensor id`
   * @param {number} at time of a value, in epoch ms
   * @returns {RecentBaseline | null} null: the baseline is not known yet, or the value is older than the samples of the baseline
   */
  at(key, at) {
    const sensor = this.#sensors.get(key) ?? this.#follow(key, at);
    if (!sensor) return null;
    if (at > sensor.device.seenAt) sensor.device.seenAt = at;
    const { baseline } = sensor;
    return baseline && at >= baseline.from ? baseline : null;
  }

  /** @param {string} key @param {number} at epoch ms @param {number} value @returns {number | null} see `sigmasOf`; null: no baseline */
  sigmas(key, at, value) {
    const baseline = this.at(key, at);
    return baseline && sigmasOf(baseline, value);
  }

  /**
   * @param {string} key
   * @returns {Array<{ ts: number, mean: number, deviation: number }>} hours for which the baseline counts, oldest first; `ts` in epoch ms
   */
  hours(key) {
    const now = this.#clock();
    const baseline = this.at(key, now);
    if (!baseline) return [];
    const { mean, deviation, from } = baseline;
    const hours = [];
    for (let ts = bucketOf(from); ts <= now; ts += HOUR_MS) hours.push({ ts, mean, deviation });
    return hours;
  }

  /**
   * Reads the samples of the devices that are due, the longest due first. Sensors that no client follows any more are
   * removed.
   *
   * @throws {MillraceError} `unavailable` when the process ends
   */
  async look() {
    const now = this.#clock();
    const due = [...this.#devices.values()].filter(({ dueAt }) => dueAt <= now);
    try {
      for (const device of due.sort((a, b) => a.dueAt - b.dueAt)) {
        this.#dueSince = device.dueAt;
        await this.#lookAt(device);
      }
    } finally {
      this.#dueSince = null;
    }
  }

  /**
   * Adds a sensor whose samples will be read.
   *
   * @param {string} key
   * @param {number} at time of a value, in epoch ms
   * @returns {Sensor | null} null: the value is too old to be judged by the last hours
   */
  #follow(key, at) {
    const now = this.#clock();
    if (at < now - WINDOW_MS) return null;
    const id = key.slice(0, key.indexOf('/'));
    const device = this.#devices.get(id) ?? { id, keys: [], seenAt: at, dueAt: now };
    /** @type {Sensor} */
    const sensor = { device, baseline: null };
    this.#devices.set(id, device);
    this.#sensors.set(key, sensor);
    device.keys.push(key);
    device.dueAt = Math.min(device.dueAt, now + SHORTEST_WAIT_MS);
    return sensor;
  }

  /** @param {Device} device */
  async #lookAt(device) {
    const now = this.#clock();
    const keys = this.#forget(device, now);
    // The device is due later from now on. So after a failure the other devices come first.
    device.dueAt = now + SHORTEST_WAIT_MS;
    if (keys.length === 0) return;
    const deps = { store: this.#store, steps: this.#steps };
    const read = await readRecent(deps, uuidBytes(device.id), now, keys.map(sensorOf));
    let wait = LONGEST_WAIT_MS;
    for (const key of keys) {
      const samples = read.get(sensorOf(key));
      const baseline = samples ? learnRecent(samples) : null;
      const sensor = this.#sensors.get(key);
      if (sensor) sensor.baseline = baseline;
      wait = Math.min(wait, baseline ? (baseline.to - baseline.from) / 2 : missingMs(samples, now));
    }
    // If a sensor was added during the read, the short pause stays, because the new sensor has no baseline yet.
    if (device.keys.length === keys.length) device.dueAt = now + Math.max(SHORTEST_WAIT_MS, wait);
    this.#onJudged(keys);
  }

  /**
   * Removes the sensors of a device that have a learned baseline by now, or that no client follows any more.
   *
   * @param {Device} device
   * @param {number} now epoch ms
   * @returns {string[]} keys of the sensors that remain
   */
  #forget(device, now) {
    const before = device.keys;
    const isFollowed = device.seenAt >= now - WINDOW_MS;
    device.keys = before.filter((key) => isFollowed && !this.#isLearned(key));
    if (device.keys.length === before.length) return [...before];
    const kept = new Set(device.keys);
    const forgotten = before.filter((key) => !kept.has(key));
    for (const key of forgotten) this.#sensors.delete(key);
    if (device.keys.length === 0) this.#devices.delete(device.id);
    this.#onJudged(forgotten);
    return [...device.keys];
  }

  #judged() {
    let count = 0;
    for (const { baseline } of this.#sensors.values()) if (baseline) count++;
    return count;
  }

  /** Returns how long ago the device that is being read became due. @returns {number} ms; 0: no device is being read */
  #overdueMs() {
    return this.#dueSince === null ? 0 : Math.max(0, this.#clock() - this.#dueSince);
  }

  async #lookOnce() {
    try {
      await this.look();
    } catch (error) {
      if (this.#steps.stopped) return;
      this.#logger.warn(
        { reason: String(error) },
        'provisional baselines could not be read, and are read later',
      );
    }
  }

  #lookLater() {
    if (this.#steps.stopped) return;
    this.#timer = setTimeout(() => {
      this.#round = this.#lookOnce().then(() => this.#lookLater());
    }, this.#everyMs).unref();
  }
}

/** @param {string} key `device id/sensor id` */
const sensorOf = (key) => key.slice(key.indexOf('/') + 1);
