/** @import { HourStatistics } from '../../../schema/packed/statistics.js' */
/** @import { Episode } from '../../store/alarms/episodes.js' */
/** @import { RuleCondition } from '../rules/rule.js' */

/**
 * A condition on the value of a sensor, or on its rate of change.
 *
 * @typedef {object} Threshold
 * @property {(value: number) => boolean} breaches whether a value is beyond the limit
 * @property {(value: number) => boolean} clears whether a value ends an episode; false for a value that breaches or lies between
 *   the limit and `clear`
 * @property {(a: number, b: number) => number} worse returns the more extreme of two values
 * @property {(hour: HourStatistics) => boolean} mayClear whether a sample of the hour may clear
 * @property {(hour: HourStatistics) => boolean} mustClear whether the hour certainly has a sample that clears
 * @property {(hour: HourStatistics) => boolean} mayBreach whether a sample of the hour may breach
 * @property {(hour: HourStatistics) => number} worst returns the most extreme value of the hour
 * @property {boolean} isRate whether the values are rates of change
 * @property {number} forMs time in ms for which the condition must hold before an episode opens
 * @property {number} forSamples number of samples for which the condition must hold before an episode opens
 */

/**
 * @param {Exclude<RuleCondition, { kind: 'absent' }>} condition
 * @returns {Threshold}
 */
export function thresholdOf(condition) {
  const { for_ms: forMs = 0, for_samples: forSamples = 1 } = condition;
  const rest = { isRate: condition.kind === 'rate', forMs, forSamples };
  if (condition.kind === 'outside') {
    const [low, high] = condition.limit;
    const [clearLow, clearHigh] = condition.clear ?? condition.limit;
    const distance = (/** @type {number} */ value) => Math.max(low - value, value - high);
    const worse = (/** @type {number} */ a, /** @type {number} */ b) => (distance(b) > distance(a) ? b : a);
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
  /** @type {{ start: number, opened: number | null, samples: number, peak: number } | null} */
  #run = null;
  /** @type {{ ts: number, value: number } | null} the previous sample, to compute a rate */
  #before = null;
  #ended;
  /** Epoch ms of the first sample; null: no samples yet. @type {number | null} */
  first = null;
  /** Epoch ms of the last value that cleared; -Infinity: no value has cleared. */
  clearedAt = Number.NEGATIVE_INFINITY;

  /**
   * @param {Threshold} threshold
   * @param {number} most limit of episodes that are kept; further episodes are counted
   * @param {Episode | null} [open] an episode that is open before the first sample
   */
  constructor(threshold, most, open = null) {
    this.#threshold = threshold;
    this.#ended = new EpisodeList(most);
    if (open) this.#run = { start: open.start, opened: open.opened, samples: 0, peak: Number(open.peak) };
  }

  /** Takes a sample. @param {number} ts epoch ms, later than all previous samples @param {number} value */
  take(ts, value) {
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
   *
   * @param {HourStatistics} hour
   * @param {number} end epoch ms
   * @returns {boolean} false: the samples of the hour have to be read
   */
  takeHour(hour, end) {
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

  /** Ends the run of breaching samples, because the rule ends or a value clears. @param {number} ts epoch ms */
  end(ts) {
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

  /** @param {{ start: number, samples: number }} run @param {number} ts */
  #isHeld({ start, samples }, ts) {
    return ts - start >= this.#threshold.forMs && samples >= this.#threshold.forSamples;
  }

  /** @param {number} ts epoch ms @param {number} value @returns {number | null} absolute change per second; null for the first sample */
  #rateOf(ts, value) {
    const before = this.#before;
    this.#before = { ts, value };
    return before && Math.abs((value - before.value) / ((ts - before.ts) / 1000));
  }
}

/** @param {{ start: number, opened: number | null, peak: number }} run @returns {Episode} */
const episodeOf = ({ start, opened, peak }) => ({ start, opened: Number(opened), cleared: null, peak });

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
  /** @type {number | null} epoch ms of the newest sample */
  #last = null;
  /** Epoch ms of the first sample; null: no samples yet. @type {number | null} */
  first = null;
  /** The absences in order of time; the last absence may be open. */
  found;

  /**
   * @param {object} options
   * @param {number} options.silenceMs silence in ms that counts as an absence
   * @param {number} options.since epoch ms from which the rule applies
   * @param {number} options.until epoch ms at which the rule ends, not later than now
   * @param {number} options.most limit of absences that are kept; further absences are counted
   * @param {Episode | null} options.open an absence that is open before the first sample
   */
  constructor({ silenceMs, since, until, most, open }) {
    this.#silenceMs = silenceMs;
    this.#since = since;
    this.#until = until;
    this.#open = open;
    this.found = new EpisodeList(most);
  }

  /** Takes a sample. @param {number} ts epoch ms, later than all previous samples */
  take(ts) {
    this.first ??= ts;
    this.#judge(ts);
    this.#last = ts;
  }

  /** Judges the silence after the last sample. */
  end() {
    this.#judge(null);
  }

  /** @param {number | null} next epoch ms of the sample after the silence; null: the silence continues */
  #judge(next) {
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
 *
 * @param {number} registeredAt epoch ms
 * @param {number} since epoch ms from which the rule applies
 * @param {number} silenceMs
 * @returns {Episode}
 */
export const unsentAbsence = (registeredAt, since, silenceMs) => ({
  start: Math.max(registeredAt, since + 1),
  opened: Math.max(registeredAt, since) + silenceMs,
  cleared: null,
  peak: null,
});

/** The first episodes in order of time, and the number of all episodes. */
export class EpisodeList {
  #most;
  /** @type {Episode[]} */
  episodes = [];
  count = 0;

  /** @param {number} most episodes that are kept */
  constructor(most) {
    this.#most = most;
  }

  /** @param {Episode} episode */
  add(episode) {
    if (this.episodes.length < this.#most) this.episodes.push(episode);
    this.count++;
  }

  /** @param {Episode} episode @returns {EpisodeList} a copy of the list with this episode at the end */
  with(episode) {
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
 *
 * @param {Extract<RuleCondition, { kind: 'absent' }>} condition
 * @param {number | null} intervalMs reporting interval of the sensor, from its birth message
 */
export const silenceOf = ({ for_ms, intervals = 3 }, intervalMs) =>
  for_ms ?? (intervalMs === null ? null : Math.round(intervals * intervalMs));
