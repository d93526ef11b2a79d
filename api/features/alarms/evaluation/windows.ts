import type { Series } from '../../../../schema/packed/series.ts';
import { bucketOf, HOUR_MS } from '../../../../schema/rules.ts';
import type { Sensor } from '../../../history/reading/hours.ts';
import { type Reading, unpackedHours } from '../../../history/reading/index.ts';
import type { RuleCondition } from '../rules/rule.ts';
import type { Episode } from '../store/episodes.ts';
import {
  AbsenceTracker,
  EpisodeTracker,
  silenceOf,
  type Threshold,
  thresholdOf,
  unsentAbsence,
} from './condition.ts';

/** A range of time whose episodes no sample outside of it can change. */
export interface Window {
  /** earliest start of an episode in the window, in epoch ms */
  from: number;
  /** latest start of an episode in the window, in epoch ms */
  to: number;
  /** in order of time; the last episode may be open */
  episodes: Episode[];
  count: number;
  /** epoch ms of the oldest sample that was read */
  first: number | null;
  run: { start: number; samples: number; opened: number | null } | null;
}

interface Part {
  sensor: Sensor;
  intervalMs: number | null;
  /** `since`: epoch ms from which the rule applies, even before all stored samples */
  registration: { at: number; since: number; hasSent: boolean };
  /** the first changed sample, in epoch ms like all times here */
  from: number;
  /** the last changed sample */
  to: number;
  /** the rule applies from here */
  since: number;
  /** exclusive: the rule or the stored samples end here */
  until: number;
  /** no samples are stored before */
  historyFrom: number;
  now: number;
  most?: number;
  /** reads an open episode that began at `since` (of an absence: `from`) or earlier, or the episode that began at `unsent` */
  openBefore?: (unsent?: number) => Promise<Episode | null>;
}

/** Samples younger than this, in ms, are first searched without a look-up of packed hours. */
const YOUNG_MS = 50 * 60_000;

/** Ranges in ms before a young sample, the shorter one first. A read of a range returns the samples of all sensors of the device. */
const LOOK_BACK_MS = [15_000, 60_000];

/** Length in ms of the first stored range that a search reads. */
const FIRST_MS = 4 * HOUR_MS;

const NO_LIMIT = Number.POSITIVE_INFINITY;

/**
 * The window begins after the last value before the changed samples that clears, and ends with the first value after them that clears. So
 * the evaluation needs no stored state, and finds the same episodes in any order of arrival. Only an episode that began before all stored
 * samples is continued from its row.
 */
export async function readWindow(
  reading: Pick<Reading, 'hours' | 'samplesOf'>,
  condition: RuleCondition,
  part: Part,
): Promise<Window> {
  if (condition.kind === 'absent') return readAbsences(reading, condition, part);
  const threshold = thresholdOf(condition);
  if (part.from > part.now - YOUNG_MS) {
    for (const lookBackMs of LOOK_BACK_MS) {
      const young = await readYoung(reading, threshold, part, lookBackMs);
      if (young) return young;
    }
  }
  return readOld(reading, threshold, part);
}

/** The usual case: samples are minutes old, and a value within `lookBackMs` before them clears. Null: no such value was found. */
async function readYoung(
  reading: Pick<Reading, 'samplesOf'>,
  threshold: Threshold,
  { sensor, from, since, until, most = NO_LIMIT }: Part,
  lookBackMs: number,
): Promise<Window | null> {
  const begin = Math.max(since, from - lookBackMs);
  const hours = [...unpackedHours(bucketOf(begin), until)];
  const found = join(await reading.samplesOf(sensor, hours, begin));
  const first = found.times.findIndex((ts) => ts >= begin);
  const start = first < 0 ? found.times.length : first;
  const place = begin === since ? { index: start, ts: since } : lastClear(threshold, found, start, from);
  if (!place) return null;
  const tracker = new EpisodeTracker(threshold, most);
  for (let index = place.index; index < found.times.length; index++) {
    const ts = Number(found.times[index]);
    if (ts >= until) break;
    tracker.take(ts, Number(found.values[index]));
  }
  return windowOf(tracker, place.ts, until - 1);
}

/** For samples of any age. Skips hours whose statistics show that their samples change nothing. */
async function readOld(
  reading: Pick<Reading, 'hours' | 'samplesOf'>,
  threshold: Threshold,
  { sensor, from, to, since, until, openBefore, most = NO_LIMIT }: Part,
): Promise<Window> {
  const begin = await findClear(reading, threshold, sensor, { from: since, to: from });
  const open = begin === since && openBefore ? await openBefore() : null;
  const earliest = open?.start ?? begin;
  const tracker = new EpisodeTracker(threshold, most, open);
  // A changed sample also changes the rate of the next sample. The next sample may clear now for the first time. Then a new
  // episode may begin after it, so the window must extend further.
  let unchangedAfter = threshold.isRate ? Number.POSITIVE_INFINITY : to;
  for await (const hours of reading.hours(sensor, { from: begin, to: until }, 'asc', FIRST_MS)) {
    for (const hour of hours) {
      const end = hour.hour + HOUR_MS;
      const isWhole = hour.hour > begin && end <= until;
      const isSkippable = !threshold.isRate && isWhole && tracker.first !== null;
      if (isSkippable && hour.exact && tracker.takeHour(hour.exact, end - 1)) {
        if (tracker.clearedAt > unchangedAfter) return windowOf(tracker, earliest, end - 1);
        continue;
      }
      const [series] = await reading.samplesOf(sensor, [hour]);
      const { times, values } = series as Series;
      for (let index = 0; index < times.length; index++) {
        const ts = Number(times[index]);
        if (ts < begin) continue;
        if (ts >= until) break;
        tracker.take(ts, Number(values[index]));
        if (tracker.clearedAt > unchangedAfter) return windowOf(tracker, earliest, ts);
        if (ts > to) unchangedAfter = Math.min(unchangedAfter, ts);
      }
    }
  }
  return windowOf(tracker, earliest, until - 1);
}

/** The epoch ms of the last sample before `to` that clears (for a rate: of the sample before it), or `from`. */
async function findClear(
  reading: Pick<Reading, 'hours' | 'samplesOf'>,
  threshold: Threshold,
  sensor: Sensor,
  { from, to }: { from: number; to: number },
): Promise<number> {
  for await (const hours of reading.hours(sensor, { from, to }, 'desc', FIRST_MS)) {
    for (const hour of hours) {
      if (!threshold.isRate && hour.exact && !threshold.mayClear(hour.exact)) continue;
      const [series] = await reading.samplesOf(sensor, [hour]);
      const found = series as Series;
      const first = found.times.findIndex((ts) => ts >= from);
      const place = first < 0 ? null : lastClear(threshold, found, first, to);
      if (place) return Number(found.times[place.index]);
    }
  }
  return from;
}

/** The last sample between `first` and `before` (epoch ms) that clears. For a rate, `index` is that of the sample before it. */
function lastClear(
  { isRate, clears, breaches }: Threshold,
  { times, values }: Series,
  first: number,
  before: number,
): { index: number; ts: number } | null {
  for (let index = times.length - 1; index >= first + Number(isRate); index--) {
    const ts = Number(times[index]);
    if (ts >= before) continue;
    const value = Number(values[index]);
    const seconds = (ts - Number(times[index - 1])) / 1000;
    const signal = isRate ? Math.abs((value - Number(values[index - 1])) / seconds) : value;
    if (clears(signal) && !breaches(signal)) return { index: index - Number(isRate), ts };
  }
  return null;
}

const windowOf = (
  { found: { episodes, count }, first, run }: EpisodeTracker,
  from: number,
  to: number,
): Window => ({
  from,
  to,
  episodes,
  count,
  first,
  run,
});

async function readAbsences(
  reading: Pick<Reading, 'hours' | 'samplesOf'>,
  condition: Extract<RuleCondition, { kind: 'absent' }>,
  part: Part,
): Promise<Window> {
  const { sensor, intervalMs, registration, from, to, since, until, now, most = NO_LIMIT } = part;
  const silenceMs = silenceOf(condition, intervalMs);
  if (silenceMs === null) return { from, to, episodes: [], count: 0, first: null, run: null };
  const unsent = unsentAbsence(registration.at, registration.since, silenceMs);
  const end = Math.min(until, now);
  if (!registration.hasSent) {
    const open = unsent.opened <= end ? unsent : null;
    const tracker = new AbsenceTracker({ silenceMs, since, until: end, most, open });
    tracker.end();
    return absencesOf(tracker, unsent.start, Number.POSITIVE_INFINITY);
  }
  const { before, open: stored } = await findLast(reading, part, unsent.start);
  // A backtest has no stored episodes. The first sample shows how long the sensor did not send after its registration.
  const isTest = part.openBefore === undefined;
  const open = isTest && before === null && registration.at >= since ? unsent : stored;
  const tracker = new AbsenceTracker({ silenceMs, since, until: end, most, open });
  if (before !== null) tracker.take(before);
  let next = Number.POSITIVE_INFINITY;
  search: for await (const hours of reading.hours(sensor, { from, to: until }, 'asc', FIRST_MS)) {
    for (const hour of hours) {
      const [series] = await reading.samplesOf(sensor, [hour]);
      for (const ts of (series as Series).times) {
        if (ts < from || ts >= until) continue;
        tracker.take(ts);
        if (ts > to) {
          next = ts;
          break search;
        }
      }
    }
  }
  // All samples of the sensor are older than its registration. So the silence after the registration is no absence of its own.
  const isOlder = tracker.first === null && open?.start === unsent.start;
  // A silence after the next sample belongs to the next window.
  if (next === Number.POSITIVE_INFINITY && !isOlder) tracker.end();
  const earliest = Math.max(tracker.first ?? from, since - silenceMs);
  return absencesOf(tracker, Math.min(open?.start ?? earliest, earliest), next - 1);
}

function absencesOf({ found: { episodes, count }, first }: AbsenceTracker, from: number, to: number): Window {
  const last = episodes.at(-1);
  const run = last && last.cleared === null ? { start: last.start, samples: 0, opened: last.opened } : null;
  return { from, to, episodes, count, first, run };
}

/**
 * The last sample before the changed samples, or the absence that takes its place. After the registration, an absence before the first
 * sample counts more than a sample before the registration, which may be of an earlier registration.
 */
async function findLast(
  reading: Pick<Reading, 'hours' | 'samplesOf'>,
  { sensor, from, historyFrom, openBefore }: Part,
  unsent: number,
): Promise<{ before: number | null; open: Episode | null }> {
  const middle = unsent <= from ? Math.max(historyFrom, unsent) : historyFrom;
  const before = await findBefore(reading, sensor, { from: middle, to: from });
  const open = before === null && openBefore ? await openBefore(unsent) : null;
  if (before !== null || open || middle === historyFrom) return { before, open };
  return { before: await findBefore(reading, sensor, { from: historyFrom, to: middle }), open };
}

async function findBefore(
  reading: Pick<Reading, 'hours' | 'samplesOf'>,
  sensor: Sensor,
  { from, to }: { from: number; to: number },
): Promise<number | null> {
  for await (const hours of reading.hours(sensor, { from, to }, 'desc', FIRST_MS)) {
    for (const hour of hours) {
      const [series] = await reading.samplesOf(sensor, [hour]);
      const { times } = series as Series;
      for (let index = times.length - 1; index >= 0; index--) {
        const ts = Number(times[index]);
        if (ts < to) {
          if (ts >= from) return ts;
          break;
        }
      }
    }
  }
  return null;
}

const join = (list: Series[]): { times: number[]; values: number[] } => ({
  times: list.flatMap(({ times }) => [...times]),
  values: list.flatMap(({ values }) => [...values]),
});
