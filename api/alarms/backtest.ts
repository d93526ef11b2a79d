import { silenceOf } from './evaluation/condition.js';
import { readWindow } from './evaluation/windows.js';

/** @import { Reading } from '../history/reading/index.js' */
/** @import { Episode } from '../store/alarms/episodes.js' */
/** @import { MonitoredSensor } from './evaluation/evaluator.js' */
/** @import { Definition, RuleCondition, RuleVersion } from './rules/rule.js' */
/** @import { Subjects } from './subjects.js' */

/** Limit of the sensors of one backtest. Further sensors are not tested. */
export const MAX_SENSORS = 50;
/** Limit of sensors that a backtest reads concurrently. */
const SENSORS_AT_ONCE = 4;

/** Limit of the episodes in an answer, and of the episodes of each sensor in memory. Further episodes are counted, but not returned. */
export const MAX_EPISODES = 1000;

/** Approximate share of the episodes that would remain with the limit that is suggested for fewer alarms. */
const FEWER_SHARE = 1 / 2;

/**
 * The limit that is suggested for more alarms is chosen from the quiet hours, whose values stay within the present limit.
 * Approximately this share of the quiet hours reaches the suggested limit.
 */
const MORE_SHARE = 0.02;

/** An episode of the past. @typedef {{ subject: MonitoredSensor, episode: Episode }} PastEpisode */

/**
 * The result of a backtest.
 *
 * @typedef {object} Backtest
 * @property {PastEpisode[]} episodes by sensor, at most 1,000
 * @property {number} count number of all episodes
 * @property {{ from: number, to: number } | null} stored epoch ms of the oldest and the newest sample; null: no samples are
 *   stored
 * @property {number} sensors number of tested sensors
 * @property {boolean} isPartial whether the scope of the rule has more sensors than were tested
 * @property {number} withoutInterval number of tested sensors for which an absence by intervals never opens
 * @property {{ limit: number, count: number } | null} fewerAlarms suggested limit, and the number of episodes with it
 * @property {{ limit: number, count: number } | null} moreAlarms suggested limit, and the number of episodes with it
 */

/**
 * Returns a function that computes when a rule would have opened alarms in the past, from stored samples.
 *
 * @param {object} deps
 * @param {Reading} deps.reading
 * @param {Subjects} deps.subjects
 * @param {() => number} deps.clock epoch ms
 */
export function createBacktest({ reading, subjects, clock }) {
  /**
   * @param {MonitoredSensor[]} list
   * @param {RuleCondition} condition
   * @param {Task} task
   * @param {number} most limit of the episodes of each sensor that are returned; further episodes are counted
   */
  async function episodesOf(list, condition, { from, to, watched }, most) {
    /** @type {PastEpisode[]} */
    const found = [];
    let count = 0;
    /** @type {Backtest['stored']} */
    let stored = null;
    for (let at = 0; at < list.length; at += SENSORS_AT_ONCE) {
      const some = list.slice(at, at + SENSORS_AT_ONCE);
      const windows = await Promise.all(
        some.map(({ device, sensor }) =>
          readWindow(watched, condition, {
            sensor: { device: device.bytes, sensor: sensor.bytes, group: device.group },
            intervalMs: sensor.intervalMs,
            registration: { at: sensor.registeredAt, since: from, hasSent: sensor.ts !== null },
            from,
            to: to - 1,
            since: from,
            until: to,
            historyFrom: from,
            now: clock(),
            most,
          }),
        ),
      );
      for (const [index, window] of windows.entries()) {
        const subject = /** @type {MonitoredSensor} */ (some[index]);
        for (const episode of window.episodes) found.push({ subject, episode });
        count += window.count;
        if (window.first !== null)
          stored = around(stored, window.first, Math.min(subject.sensor.ts ?? to, to));
      }
    }
    return { found, count, stored };
  }

  /**
   * Suggests a limit for fewer alarms by the peaks of the episodes, and a limit for more alarms by the extremes of the quiet
   * hours.
   *
   * @param {MonitoredSensor[]} list
   * @param {RuleCondition} condition
   * @param {PastEpisode[]} found the first episodes of each sensor
   * @param {Task} task
   */
  async function suggestions(list, condition, found, task) {
    if (condition.kind !== 'above' && condition.kind !== 'below')
      return { fewerAlarms: null, moreAlarms: null };
    const isAbove = condition.kind === 'above';
    const peaks = found.map(({ episode }) => Number(episode.peak));
    const quiet = await quietExtremes(list, condition, task);
    const fewer = peaks.length < 2 ? undefined : quantile(peaks, isAbove ? 1 - FEWER_SHARE : FEWER_SHARE);
    const more = quantile(quiet, isAbove ? 1 - MORE_SHARE : MORE_SHARE);
    const judge = async (/** @type {number | undefined} */ limit) => {
      if (limit === undefined || limit === condition.limit) return null;
      const shift = limit - condition.limit;
      const clear = condition.clear === undefined ? {} : { clear: condition.clear + shift };
      const { count } = await episodesOf(list, { ...condition, ...clear, limit }, task, 0);
      return { limit, count };
    };
    return { fewerAlarms: await judge(fewer), moreAlarms: await judge(more) };
  }

  /**
   * @param {MonitoredSensor[]} list
   * @param {Extract<RuleCondition, { kind: 'above' | 'below' }>} condition
   * @param {Task} task
   * @returns {Promise<number[]>} the extreme value of each hour that stays within the limit; only hours with exact statistics
   */
  async function quietExtremes(list, { kind, limit }, { from, to, watched }) {
    /** @type {number[]} */
    const extremes = [];
    for (const { device, sensor } of list) {
      const key = { device: device.bytes, sensor: sensor.bytes, group: device.group };
      for await (const hours of watched.hours(key, { from, to }, 'asc', to - from)) {
        for (const { exact } of hours) {
          const extreme = kind === 'above' ? exact?.max : exact?.min;
          if (extreme !== undefined && (kind === 'above' ? extreme <= limit : extreme >= limit))
            extremes.push(extreme);
        }
      }
    }
    return extremes;
  }

  /**
   * @param {Pick<RuleVersion, 'definition' | 'ids' | 'removed'> & { definition: Definition }} version
   * @param {{ from: number, to: number }} range epoch ms
   * @param {AbortSignal} signal ends the reading
   * @returns {Promise<Backtest>}
   * @throws the reason with which `signal` was aborted
   */
  return async function backtest(version, range, signal) {
    /** @type {MonitoredSensor[]} */
    const list = [];
    let isPartial = false;
    for await (const subject of subjects.inScope(version)) {
      signal.throwIfAborted();
      if (list.length === MAX_SENSORS) {
        isPartial = true;
        break;
      }
      list.push(subject);
    }
    const { condition } = version.definition;
    const task = { ...range, watched: endedBy(reading, signal) };
    const { found, count, stored } = await episodesOf(list, condition, task, MAX_EPISODES);
    return {
      episodes: found.slice(0, MAX_EPISODES),
      count,
      stored,
      sensors: list.length,
      isPartial,
      withoutInterval: list.filter(({ sensor }) => isNever(condition, sensor.intervalMs)).length,
      ...(await suggestions(list, condition, found, task)),
    };
  };
}

/**
 * A range of stored samples, and the functions that read it. The functions throw after the signal of the backtest was aborted.
 *
 * @typedef {{ from: number, to: number, watched: Pick<Reading, 'hours' | 'samplesOf'> }} Task
 */

/**
 * @param {Reading} reading
 * @param {AbortSignal} signal
 * @returns {Task['watched']} the functions of `reading`, which throw after `signal` was aborted
 */
const endedBy = (reading, signal) => ({
  async *hours(...given) {
    signal.throwIfAborted();
    for await (const hours of reading.hours(...given)) {
      // A range without samples causes no other read, so this loop checks the signal itself.
      signal.throwIfAborted();
      yield hours;
    }
  },
  async samplesOf(...given) {
    signal.throwIfAborted();
    return reading.samplesOf(...given);
  },
});

/** @param {Backtest['stored']} stored @param {number} from epoch ms @param {number} to epoch ms */
const around = (stored, from, to) => ({
  from: Math.min(stored?.from ?? from, from),
  to: Math.max(stored?.to ?? to, to),
});

/** @param {RuleCondition} condition @param {number | null} intervalMs of the sensor */
const isNever = (condition, intervalMs) =>
  condition.kind === 'absent' && silenceOf(condition, intervalMs) === null;

/** @param {number[]} values @param {number} share @returns {number | undefined} undefined: `values` is empty */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
