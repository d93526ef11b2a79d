import { randomUUID } from 'node:crypto';
import { closingOf, DAY_MS, dayOf, HOUR_MS } from '../../../schema/rules.js';
import { exportedSensor, readSensors } from '../../export/index.js';
import { createLeases, iteratePages, Steps } from '../../history/packing/index.js';
import { createReading } from '../../history/reading/index.js';
import { Retry } from '../../store/index.js';
import { CompletionLoop, createClosedHours } from '../closed-hours.js';
import { withTimeLimit } from '../time-limit.js';
import { createDayWriter } from './day-writer.js';
import { createDirectoryTarget } from './directory.js';
import { createS3Target } from './s3.js';

/** @import { Config, ParquetPlace } from '../../../common/settings/config.js' */
/** @import { Context } from '../../observability/index.js' */
/** @import { ClockGuard } from '../../store/clock-guard.js' */
/** @import { Store } from '../../store/index.js' */
/** @import { Samples } from '../../export/rows.js' */
/** @import { DayWriter } from './day-writer.js' */
/** @import { Target } from './directory.js' */

/**
 * Writes finished days as Parquet files. When the last hour of a UTC day has closed, a process writes the day of each group of
 * devices, with a manifest. The day is written again a day later, when it settles, and again an hour after even later samples
 * arrived. The statistics of history follow the same rule. The samples come from history and batches, as in an export, so
 * imports are included.
 *
 * The progress of a group is stored next to its files. So a second directory has its own progress and gets all its days, and a
 * loss of the database loses no progress.
 *
 * @param {Context} context with `STREAM_PARQUET`
 * @param {object} deps
 * @param {Store} deps.store
 * @param {ClockGuard} deps.clockGuard
 * @param {() => boolean} deps.isPressed whether requests of ingest wait for the congestion window
 * @param {number} deps.pauseMs mean pause between two checks for closed hours
 */
export function createParquetOut({ config, clock, logger, metrics }, deps) {
  const { store, clockGuard, isPressed, pauseMs } = deps;
  const { latestGroups: groups, historyDays } = config.retention;
  const ending = new AbortController();
  const target = openTarget(config, ending.signal);
  const retry = new Retry({ logger, onRetry: () => metrics.retries.inc() });
  /** Time until which each group of devices is written, in epoch ms. @type {Map<number, number>} */
  const writtenUntil = new Map();
  const lagMs = () =>
    writtenUntil.size === 0 ? 0 : Math.max(0, clock() - Math.min(...writtenUntil.values()));
  const steps = new Steps({ retry, isPressed, overdueMs: lagMs });
  const days = createDayWriter({
    target,
    groups,
    clock,
    readDay: createDayReader({ store, steps, groups, signal: ending.signal }),
    onFile({ rows, bytes }) {
      metrics.parquetFiles.inc();
      metrics.parquetRows.inc(rows);
      metrics.parquetBytes.inc(bytes);
    },
  });
  const progress = createProgress({ target, groups, clock: clockGuard });
  const closedHours = createClosedHours({
    groups,
    clock: clockGuard,
    steps,
    leases: createLeases({
      store: store.parquetLeases,
      owner: `${config.mqtt.clientId}:${randomUUID()}`,
      logger,
    }),
    readUntil: progress.readUntil,
    completeHour: createHourWriter({ store, steps, days, progress, clock, historyDays }),
    onUntil: (group, until) => writtenUntil.set(group, until),
  });
  const loop = new CompletionLoop({
    completeDue: closedHours.completeDue,
    steps,
    pauseMs,
    logger,
    target: 'Parquet files',
    onFailure: () => metrics.parquetFailures.inc(),
  });
  metrics.gauge(
    'iot_parquet_lag_seconds',
    'Age of the end of the last hour that the Parquet files of the slowest group of devices include; one to two hours are normal',
    () => lagMs() / 1000,
  );

  return {
    completeDue: closedHours.completeDue,

    start: () => loop.start(),

    /** Stops after the present step. If a day is not finished, the next process writes the whole day. */
    async stop() {
      const ended = loop.stop();
      ending.abort();
      await withTimeLimit(ended);
    },
  };
}

/** @typedef {ReturnType<typeof createParquetOut>} ParquetOut */

/** @param {Config} config @param {AbortSignal} signal @returns {Target} */
function openTarget({ stream }, signal) {
  const place = /** @type {ParquetPlace} */ (stream.parquet);
  return 'bucket' in place ? createS3Target(place, signal) : createDirectoryTarget(place.directory);
}

/**
 * Returns a function that reads all samples of a day of a group: device by device and sensor by sensor in the order of the
 * tables, the samples of each sensor oldest first. Each request to the database is a step.
 *
 * @param {object} deps
 * @param {Store} deps.store
 * @param {Steps} deps.steps
 * @param {number} deps.groups
 * @param {AbortSignal} deps.signal
 */
function createDayReader({ store, steps, groups, signal }) {
  const reading = createReading({
    samples: inSteps(store.samples, steps),
    packed: inSteps(store.packed, steps),
    scans: { samples: inSteps(store.scans.samples, steps), packed: inSteps(store.scans.packed, steps) },
    packProgress: inSteps(store.packProgress, steps),
  });

  /** @param {number} group */
  async function* sensorsOf(group) {
    const devices = iteratePages((after) => steps.run(() => store.streaming.devicePage(group, null, after)));
    for await (const device of devices) {
      const rows = await steps.run(() => store.fleet.latestOfDevice({ group, bytes: device }));
      // Sensors without a newest value are included, because they may have imported samples.
      for (const row of rows) yield exportedSensor(row, Number.POSITIVE_INFINITY, groups);
    }
  }

  /** @param {number} group @param {number} day epoch ms of its start @returns {AsyncGenerator<Samples, void>} */
  return (group, day) => readSensors(reading, sensorsOf(group), { from: day, to: day + DAY_MS }, signal);
}

/**
 * Wraps a table so that each call is a step.
 *
 * @template {object} T
 * @param {T} table all its members are functions that return a promise
 * @param {Steps} steps
 * @returns {T}
 */
const inSteps = (table, steps) =>
  new Proxy(table, {
    get(methods, name) {
      const method = /** @type {Function} */ (Reflect.get(methods, name));
      return (/** @type {unknown[]} */ ...args) => steps.run(() => method.apply(methods, args));
    },
  });

/**
 * The progress of a group of devices: all hours before `until` are written. `rewritten` lists the days with replaced files. All
 * times are epoch ms.
 *
 * @typedef {{ until: number, rewritten: number[] }} GroupProgress
 */

/**
 * Reads and writes the progress of each group in a small file: `watermark/GROUP.json`.
 *
 * @param {{ target: Target, groups: number, clock: Pick<ClockGuard, 'now'> }} deps
 */
function createProgress({ target, groups, clock }) {
  /** @type {Map<number, GroupProgress>} */
  const known = new Map();
  const pathOf = (/** @type {number} */ group) => `watermark/${group}.json`;

  /** @param {number} group @param {GroupProgress} progress */
  async function write(group, { until, rewritten }) {
    const watermark = {
      kind: 'watermark',
      group,
      groups,
      until: new Date(until).toISOString(),
      rewritten: rewritten.map((day) => new Date(day).toISOString()),
    };
    await target.write(pathOf(group), [Buffer.from(`${JSON.stringify(watermark)}\n`)]);
    known.set(group, { until, rewritten });
  }

  /**
   * Stores and returns the progress of a new group. Its files begin with the day in which the Parquet output was first turned
   * on. The day before is also written, when it settles.
   *
   * @param {number} group
   * @returns {Promise<GroupProgress>}
   */
  async function begin(group) {
    const progress = { until: dayOf(await clock.now()), rewritten: [] };
    await write(group, progress);
    return progress;
  }

  /** @param {number} group @returns {Promise<GroupProgress>} */
  async function read(group) {
    const text = await target.read(pathOf(group));
    if (text === null) return begin(group);
    const { until, rewritten } = JSON.parse(text);
    const progress = { until: Date.parse(until), rewritten: rewritten.map(Date.parse) };
    known.set(group, progress);
    return progress;
  }

  return {
    read,
    write,

    /**
     * Returns the time until which a group is written. It reads the target only when the next hour may be due.
     *
     * @param {number} group
     * @returns {Promise<number>} epoch ms
     */
    async readUntil(group) {
      const last = known.get(group);
      if (last && (await clock.now()) < closingOf(last.until)) return last.until;
      return (await read(group)).until;
    },
  };
}

/**
 * Returns a function that writes the days that are due when an hour has closed.
 *
 * @param {object} deps
 * @param {Pick<Store, 'packing'>} deps.store
 * @param {Steps} deps.steps
 * @param {DayWriter} deps.days
 * @param {ReturnType<typeof createProgress>} deps.progress
 * @param {() => number} deps.clock epoch ms
 * @param {number} deps.historyDays `HISTORY_DAYS`
 */
function createHourWriter({ store, steps, days, progress, clock, historyDays }) {
  /**
   * @param {number} group
   * @param {number} hour epoch ms
   * @returns {Promise<Map<number, boolean>>} days that are due, in epoch ms; true: the day has settled
   */
  async function dueDays(group, hour) {
    /** @type {Map<number, boolean>} */
    const due = new Map();
    const noticed = iteratePages((after) => steps.run(() => store.packing.lateDayPage(group, hour, after)));
    for await (const { day } of noticed) due.set(day, true);
    if (dayOf(hour + HOUR_MS) > hour) {
      // A day settles a day after its last hour has closed.
      due.set(dayOf(hour) - DAY_MS, true);
      due.set(dayOf(hour), false);
    }
    return due;
  }

  /**
   * Writes the due days, and returns the new progress of the group.
   *
   * @param {number} group
   * @param {number} hour epoch ms
   * @returns {Promise<number>} epoch ms
   */
  return async (group, hour) => {
    const { rewritten } = await progress.read(group);
    const waiting = new Set(rewritten);
    const due = await dueDays(group, hour);
    for (const [day, settled] of [...due].sort(([a], [b]) => a - b)) {
      // Some samples of an older day may have expired. So its file is not written again.
      if (day <= clock() - historyDays * DAY_MS) continue;
      if (await days.write(group, day, settled)) waiting.add(day);
    }
    for (const day of waiting) if (!(await days.clean(group, day))) waiting.delete(day);
    const until = hour + HOUR_MS;
    await progress.write(group, { until, rewritten: [...waiting].sort((a, b) => a - b) });
    return until;
  };
}
