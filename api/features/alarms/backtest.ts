import type { Reading } from '../../history/reading/index.ts';
import { silenceOf } from './evaluation/condition.ts';
import type { MonitoredSensor } from './evaluation/evaluator.ts';
import { readWindow } from './evaluation/windows.ts';
import type { Definition, RuleCondition, RuleVersion } from './rules/rule.ts';
import type { Episode } from './store/episodes.ts';
import type { Subjects } from './subjects.ts';

/** Limit of the sensors of one backtest. Further sensors are not tested. */
export const MAX_SENSORS = 50;
const SENSORS_AT_ONCE = 4;

/** Limit of episodes in an answer and in memory for each sensor. Further episodes are counted, but not returned. */
export const MAX_EPISODES = 1000;

/** Share of the episodes that remain with the limit suggested for fewer alarms. */
const FEWER_SHARE = 1 / 2;

/** Share of the quiet hours (hours within the present limit) that reach the limit suggested for more alarms. */
const MORE_SHARE = 0.02;

type PastEpisode = { subject: MonitoredSensor; episode: Episode };

export interface Backtest {
  /** by sensor, at most 1,000 */
  episodes: PastEpisode[];
  count: number;
  /** epoch ms of the oldest and the newest sample; null: no samples are stored */
  stored: { from: number; to: number } | null;
  sensors: number;
  /** whether the scope of the rule has more sensors than were tested */
  isPartial: boolean;
  /** number of tested sensors for which an absence by intervals never opens */
  withoutInterval: number;
  /** `count`: number of episodes with the suggested limit */
  fewerAlarms: { limit: number; count: number } | null;
  moreAlarms: { limit: number; count: number } | null;
}

/** Computes from stored samples when a rule would have opened alarms in the past. */
export function createBacktest({
  reading,
  subjects,
  clock,
}: {
  reading: Reading;
  subjects: Subjects;
  clock: () => number;
}) {
  /** `range`: epoch ms. @throws the reason with which `signal` was aborted */
  return async function backtest(
    version: Pick<RuleVersion, 'definition' | 'ids' | 'removed'> & { definition: Definition },
    range: { from: number; to: number },
    signal: AbortSignal,
  ): Promise<Backtest> {
    const list: MonitoredSensor[] = [];
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
    const task = { ...range, watched: endedBy(reading, signal), clock };
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

/** A range of samples, and functions to read it that throw after the signal was aborted. */
type Task = {
  from: number;
  to: number;
  watched: Pick<Reading, 'hours' | 'samplesOf'>;
  clock: () => number;
};

/** `most`: limit of the episodes of each sensor that are returned; further episodes are counted. */
async function episodesOf(
  list: MonitoredSensor[],
  condition: RuleCondition,
  { from, to, watched, clock }: Task,
  most: number,
) {
  const found: PastEpisode[] = [];
  let count = 0;
  let stored: Backtest['stored'] = null;
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
      const subject = some[index] as MonitoredSensor;
      for (const episode of window.episodes) found.push({ subject, episode });
      count += window.count;
      if (window.first !== null) stored = around(stored, window.first, Math.min(subject.sensor.ts ?? to, to));
    }
  }
  return { found, count, stored };
}

/** The peaks of the episodes suggest a limit for fewer alarms, the extremes of the quiet hours a limit for more alarms. */
async function suggestions(
  list: MonitoredSensor[],
  condition: RuleCondition,
  found: PastEpisode[],
  task: Task,
) {
  if (condition.kind !== 'above' && condition.kind !== 'below')
    return { fewerAlarms: null, moreAlarms: null };
  const isAbove = condition.kind === 'above';
  const peaks = found.map(({ episode }) => Number(episode.peak));
  const quiet = await quietExtremes(list, condition, task);
  const fewer = peaks.length < 2 ? undefined : quantile(peaks, isAbove ? 1 - FEWER_SHARE : FEWER_SHARE);
  const more = quantile(quiet, isAbove ? 1 - MORE_SHARE : MORE_SHARE);
  const judge = async (limit: number | undefined) => {
    if (limit === undefined || limit === condition.limit) return null;
    const shift = limit - condition.limit;
    const clear = condition.clear === undefined ? {} : { clear: condition.clear + shift };
    const { count } = await episodesOf(list, { ...condition, ...clear, limit }, task, 0);
    return { limit, count };
  };
  return { fewerAlarms: await judge(fewer), moreAlarms: await judge(more) };
}

/** The extreme value of each hour within the limit. Only hours with exact statistics count. */
async function quietExtremes(
  list: MonitoredSensor[],
  { kind, limit }: Extract<RuleCondition, { kind: 'above' | 'below' }>,
  { from, to, watched }: Task,
): Promise<number[]> {
  const extremes: number[] = [];
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

const endedBy = (reading: Reading, signal: AbortSignal): Task['watched'] => ({
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

const around = (stored: Backtest['stored'], from: number, to: number) => ({
  from: Math.min(stored?.from ?? from, from),
  to: Math.max(stored?.to ?? to, to),
});

const isNever = (condition: RuleCondition, intervalMs: number | null) =>
  condition.kind === 'absent' && silenceOf(condition, intervalMs) === null;

/** Undefined if `values` is empty. */
function quantile(values: number[], share: number): number | undefined {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))];
}
