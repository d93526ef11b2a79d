import type { HourStatistics } from '../../../schema/packed/statistics.ts';
import type { Episode } from '../../store/alarms/episodes.ts';
import type { RuleCondition } from '../rules/rule.ts';

/** A condition on the value of a sensor, or on its rate of change. */
export interface Threshold {
  /** whether a value is beyond the limit */
  breaches: (value: number) => boolean;
  /**
   * whether a value ends an episode; false for a value that breaches or lies between the limit and `clear`
   */
  clears: (value: number) => boolean;
  /** returns the more extreme of two values */
  worse: (a: number, b: number) => number;
  /** whether a sample of the hour may clear */
  mayClear: (hour: HourStatistics) => boolean;
  /** whether the hour certainly has a sample that clears */
  mustClear: (hour: HourStatistics) => boolean;
  /** whether a sample of the hour may breach */
  mayBreach: (hour: HourStatistics) => boolean;
  /** returns the most extreme value of the hour */
  worst: (hour: HourStatistics) => number;
  /** whether the values are rates of change */
  isRate: boolean;
  /** time in ms for which the condition must hold before an episode opens */
  forMs: number;
  /** number of samples for which the condition must hold before an episode opens */
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
  /** the previous sample, to compute a rate */
  #before: { ts: number; value: number } | null = null;
  #ended;
  /** Epoch ms of the first sample; null: no samples yet. */
  first: number | null = null;
  /** Epoch ms of the last value that cleared; -Infinity: no value has cleared. */
  clearedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param most limit of episodes that are kept; further episodes are counted
   * @param open an episode that is open before the first sample
   */
  constructor(threshold: Threshold, most: number, open: Episode | null = null) {
    this.#threshold = threshold;
    this.#ended = new EpisodeList(most);
    if (open) this.#run = { start: open.start, opened: open.opened, samples: 0, peak: Number(open.peak) };
  }

  /** Takes a sample. @param ts epoch ms, later than all previous samples */
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

  /**
   * Takes all samples of an hour by their statistics, if the single samples would not change the state.
   * @param end epoch ms
   * @returns false: the samples of the hour have to be read
   */
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

  /** Ends the run of breaching samples, because the rule ends or a value clears. @param ts epoch ms */
  end(ts: number) {
    if (this.#run?.opened != null) this.#ended.add({ ...episodeOf(this.#run), cleared: ts });
    this.#run = null;
  }

  /** The present run of breaching samples, even before it opens an episode; null: no run. */
  get run() {
    return this.#run;
  }

  /** The episodes in order of time; the last episode may be open. */
  get found() {
    return this.#run?.opened != null ? this.#ended.with(episodeOf(this.#run)) : this.#ended;
  }

  #isHeld({ start, samples }: { start: number; samples: number }, ts: number) {
    return ts - start >= this.#threshold.forMs && samples >= this.#threshold.forSamples;
  }

  /** @param ts epoch ms @returns absolute change per second; null for the first sample */
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
 * Follows the times of the samples of one sensor, and finds its absences. An absence begins with the last sample before the
 * silence, and opens when the silence has lasted long enough. An absence begins no earlier than its version of the rule.
 * Otherwise two versions of a rule could find absences with the same start and write the same row.
 */
export class AbsenceTracker {
  #silenceMs;
  #since;
  #until;
  #open;
  /** epoch ms of the newest sample */
  #last: number | null = null;
  /** Epoch ms of the first sample; null: no samples yet. */
  first: number | null = null;
  /** The absences in order of time; the last absence may be open. */
  found;

  constructor({
    silenceMs,
    since,
    until,
    most,
    open,
  }: {
    /** silence in ms that counts as an absence */
    silenceMs: number;
    /** epoch ms from which the rule applies */
    since: number;
    /** epoch ms at which the rule ends, not later than now */
    until: number;
    /** limit of absences that are kept; further absences are counted */
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

  /** Takes a sample. @param ts epoch ms, later than all previous samples */
  take(ts: number) {
    this.first ??= ts;
    this.#judge(ts);
    this.#last = ts;
  }

  /** Judges the silence after the last sample. */
  end() {
    this.#judge(null);
  }

  /** @param next epoch ms of the sample after the silence; null: the silence continues */
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
 * Returns the absence of a sensor that has sent nothing since its registration. Its start differs from `since`, because an absence
 * after a sample that is older than the rule starts then.
 * @param registeredAt epoch ms
 * @param since epoch ms from which the rule applies
 */
export const unsentAbsence = (registeredAt: number, since: number, silenceMs: number): Episode => ({
  start: Math.max(registeredAt, since + 1),
  opened: Math.max(registeredAt, since) + silenceMs,
  cleared: null,
  peak: null,
});

/** The first episodes in order of time, and the number of all episodes. */
export class EpisodeList {
  #most;
  episodes: Episode[] = [];
  count = 0;

  /** @param most episodes that are kept */
  constructor(most: number) {
    this.#most = most;
  }

  add(episode: Episode) {
    if (this.episodes.length < this.#most) this.episodes.push(episode);
    this.count++;
  }

  /** @returns a copy of the list with this episode at the end */
  with(episode: Episode): EpisodeList {
    const list = new EpisodeList(this.#most);
    list.episodes = [...this.episodes];
    list.count = this.count;
    list.add(episode);
    return list;
  }
}

/**
 * Returns the silence in ms that counts as an absence. The result is null if the rule counts reporting intervals, and the sensor
 * has announced no interval.
 * @param intervalMs reporting interval of the sensor, from its birth message
 */
export const silenceOf = (
  { for_ms, intervals = 3 }: Extract<RuleCondition, { kind: 'absent' }>,
  intervalMs: number | null,
) => for_ms ?? (intervalMs === null ? null : Math.round(intervals * intervalMs));
