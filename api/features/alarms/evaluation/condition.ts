import type { HourStatistics } from '../../../../schema/packed/statistics.ts';
import type { RuleCondition } from '../rules/rule.ts';
import type { Episode } from '../store/episodes.ts';

export interface Threshold {
  breaches: (value: number) => boolean;
  /** whether a value ends an episode; false also between the limit and `clear` */
  clears: (value: number) => boolean;
  worse: (a: number, b: number) => number;
  mayClear: (hour: HourStatistics) => boolean;
  mustClear: (hour: HourStatistics) => boolean;
  mayBreach: (hour: HourStatistics) => boolean;
  worst: (hour: HourStatistics) => number;
  isRate: boolean;
  forMs: number;
  /** number of samples that must breach before an episode opens */
  forSamples: number;
}

export function thresholdOf(condition: Exclude<RuleCondition, { kind: 'absent' }>): Threshold {
  const { for_ms: forMs = 0, for_samples: forSamples = 1 } = condition;
  const rest = { isRate: condition.kind === 'rate', forMs, forSamples };
  if (condition.kind === 'outside') {
    const [low, high] = condition.limit;
    const [clearLow, clearHigh] = condition.clear ?? condition.limit;
    const distance = (value: number) => Math.max(low - value, value - high);
    const worse = (a: number, b: number) => (distance(b) > distance(a) ? b : a);
    return {
      ...rest,
      breaches: (value) => value < low || value > high,
      clears: (value) => value >= clearLow && value <= clearHigh,
      worse,
      mayClear: ({ min, max }) => max >= clearLow && min <= clearHigh,
      mustClear: ({ min, max }) => [min, max].some((value) => value >= clearLow && value <= clearHigh),
      mayBreach: ({ min, max }) => min < low || max > high,
      worst: ({ min, max }) => worse(min, max),
    };
  }
  const { limit, clear = limit } = condition;
  if (condition.kind === 'below') {
    return {
      ...rest,
      breaches: (value) => value < limit,
      clears: (value) => value >= clear,
      worse: Math.min,
      mayClear: ({ max }) => max >= clear,
      mustClear: ({ max }) => max >= clear,
      mayBreach: ({ min }) => min < limit,
      worst: ({ min }) => min,
    };
  }
  return {
    ...rest,
    breaches: (value) => value > limit,
    clears: (value) => value <= clear,
    worse: Math.max,
    // The statistics of an hour contain no rates.
    mayClear: ({ min }) => rest.isRate || min <= clear,
    mustClear: ({ min }) => !rest.isRate && min <= clear,
    mayBreach: ({ max }) => rest.isRate || max > limit,
    worst: ({ max }) => max,
  };
}

/**
 * Follows the samples of one sensor in order of time, and finds the episodes of a threshold.
 *
 *     limit ────────────╲─●──●─────────────  breaches: an episode begins
 *     clear ───────────────────────●───────  between: an open episode goes on, a run that has not opened ends
 *                                      ●     clears: the episode ends
 *
 * After a value that clears, no episode is open, whatever came before. So evaluation can begin at any value that clears. The
 * state of a rule never has to be stored, and a late sample changes nothing after the next value that clears.
 */
export class EpisodeTracker {
  #threshold;
  #run: { start: number; opened: number | null; samples: number; peak: number } | null = null;
  #before: { ts: number; value: number } | null = null;
  #ended;
  first: number | null = null;
  /** In epoch ms; -Infinity: no value has cleared. */
  clearedAt = Number.NEGATIVE_INFINITY;

  /** `most`: limit of episodes that are kept; further episodes are counted. `open`: an episode that is open before the first sample. */
  constructor(threshold: Threshold, most: number, open: Episode | null = null) {
    this.#threshold = threshold;
    this.#ended = new EpisodeList(most);
    if (open) this.#run = { start: open.start, opened: open.opened, samples: 0, peak: Number(open.peak) };
  }

  /** `ts`: epoch ms, later than all previous samples. */
  take(ts: number, value: number) {
    this.first ??= ts;
    const signal = this.#threshold.isRate ? this.#rateOf(ts, value) : value;
    if (signal === null) return;
    if (this.#threshold.clears(signal) && !this.#threshold.breaches(signal)) {
      this.end(ts);
      this.clearedAt = ts;
      return;
    }
    const breaches = this.#threshold.breaches(signal);
    // Before an episode opens, each value has to breach. After one spike, values below the limit must not open an alarm.
    if (this.#run?.opened === null && !breaches) this.#run = null;
    else if (this.#run) {
      this.#run.samples++;
      this.#run.peak = this.#threshold.worse(this.#run.peak, signal);
    } else if (breaches) this.#run = { start: ts, opened: null, samples: 1, peak: signal };
    if (this.#run && this.#run.opened === null && this.#isHeld(this.#run, ts)) this.#run.opened = ts;
  }

  /** False: the statistics do not suffice, and the samples of the hour have to be read. */
  takeHour(hour: HourStatistics, end: number): boolean {
    const run = this.#run;
    if (run === null) {
      if (this.#threshold.mayBreach(hour)) return false;
      if (this.#threshold.mustClear(hour)) this.clearedAt = end;
      return true;
    }
    if (run.opened === null || this.#threshold.mayClear(hour)) return false;
    run.samples += hour.count;
    run.peak = this.#threshold.worse(run.peak, this.#threshold.worst(hour));
    return true;
  }

  /** The rule ends, or a value clears. `ts`: epoch ms. */
  end(ts: number) {
    if (this.#run?.opened != null) this.#ended.add({ ...episodeOf(this.#run), cleared: ts });
    this.#run = null;
  }

  /** Also a run that has not opened an episode yet; null: no run. */
  get run() {
    return this.#run;
  }

  /** In order of time. The last episode may be open. */
  get found() {
    return this.#run?.opened != null ? this.#ended.with(episodeOf(this.#run)) : this.#ended;
  }

  #isHeld({ start, samples }: { start: number; samples: number }, ts: number) {
    return ts - start >= this.#threshold.forMs && samples >= this.#threshold.forSamples;
  }

  /** Absolute change per second; null for the first sample. */
  #rateOf(ts: number, value: number): number | null {
    const before = this.#before;
    this.#before = { ts, value };
    return before && Math.abs((value - before.value) / ((ts - before.ts) / 1000));
  }
}

const episodeOf = ({
  start,
  opened,
  peak,
}: {
  start: number;
  opened: number | null;
  peak: number;
}): Episode => ({ start, opened: Number(opened), cleared: null, peak });

/**
 * An absence begins with the last sample before the silence, and opens when the silence has lasted long enough. It begins no earlier than
 * its version of the rule. Otherwise two versions could find absences with the same start and write the same row.
 */
export class AbsenceTracker {
  #silenceMs;
  #since;
  #until;
  #open;
  #last: number | null = null;
  first: number | null = null;
  /** In order of time. The last absence may be open. */
  found;

  constructor({
    silenceMs,
    since,
    until,
    most,
    open,
  }: {
    silenceMs: number;
    since: number;
    /** epoch ms, not later than now */
    until: number;
    most: number;
    /** an absence that is open before the first sample */
    open: Episode | null;
  }) {
    this.#silenceMs = silenceMs;
    this.#since = since;
    this.#until = until;
    this.#open = open;
    this.found = new EpisodeList(most);
  }

  /** `ts`: epoch ms, later than all previous samples. */
  take(ts: number) {
    this.first ??= ts;
    this.#judge(ts);
    this.#last = ts;
  }

  end() {
    this.#judge(null);
  }

  /** `next`: the sample after the silence; null: the silence continues. */
  #judge(next: number | null) {
    if (this.#last === null) {
      if (this.#open && (next === null || next > this.#open.opened))
        this.found.add({ ...this.#open, cleared: next });
      return;
    }
    const start = Math.max(this.#last, this.#since);
    const opened = Math.max(this.#last + this.#silenceMs, this.#since);
    if (opened > this.#until || (next !== null && next <= opened)) return;
    this.found.add({ start, opened, cleared: next, peak: null });
  }
}

/**
 * The absence of a sensor without a sample since its registration. Its start differs from `since`, because an absence after a sample that
 * is older than the rule starts there.
 */
export const unsentAbsence = (registeredAt: number, since: number, silenceMs: number): Episode => ({
  start: Math.max(registeredAt, since + 1),
  opened: Math.max(registeredAt, since) + silenceMs,
  cleared: null,
  peak: null,
});

/** The first `most` episodes in order of time, and the number of all episodes. */
export class EpisodeList {
  #most;
  episodes: Episode[] = [];
  count = 0;

  constructor(most: number) {
    this.#most = most;
  }

  add(episode: Episode) {
    if (this.episodes.length < this.#most) this.episodes.push(episode);
    this.count++;
  }

  with(episode: Episode): EpisodeList {
    const list = new EpisodeList(this.#most);
    list.episodes = [...this.episodes];
    list.count = this.count;
    list.add(episode);
    return list;
  }
}

/** Null: the rule counts reporting intervals, and the sensor has announced none in its birth message (`intervalMs`). */
export const silenceOf = (
  { for_ms, intervals = 3 }: Extract<RuleCondition, { kind: 'absent' }>,
  intervalMs: number | null,
) => for_ms ?? (intervalMs === null ? null : Math.round(intervals * intervalMs));
