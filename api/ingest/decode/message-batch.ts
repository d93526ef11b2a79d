import type { ErrorCode } from '../../../common/errors.ts';
import { formatTime, parseTime } from '../../../common/times.ts';
import { brokenNameRule } from '../../../schema/ids.ts';
import type { MeasurementCounts } from '../../observability/process-stats.ts';
import type { Refusals } from '../../store/dead-letters.ts';
import type { NameCache } from './json-cursor.ts';
import { PATHS, type PathOf, ruleOf } from './refusals.ts';

/** s, ms, µs and ns */
const UNITS_MS = [1000, 1, 1e-3, 1e-6];

export interface SensorSamples {
  /** epoch ms, in order of arrival */
  times: number[];
  values: number[];
  /** index in the message of the element of each sample */
  indexes: number[];
}

interface Untimed {
  /** Includes refused measurements, so that a replay gives the same number. */
  count: number;
  /** Indexes in `SensorSamples` of the good measurements with a relative time or without a time. */
  places: number[];
}

/** Times in epoch ms. `relative`: relative and missing times are accepted; `unitMs`: ms in the unit of a `ts` that is a number. */
type TimeRules = { receivedAt: number; oldest: number; newest: number; relative: boolean; unitMs?: number };

/**
 * The measurements of one message. Each bad measurement is refused with a reason, and never affects a good one. This is
 * a class because an object with seven closures takes four times the memory, and each message creates a batch.
 */
export class MessageBatch {
  declare names: NameCache | null;

  /** by the id or name of the sensor in the message */
  sensors: Map<string, SensorSamples> = new Map();
  refused: Refusals = [];
  /**
   * Each received element then becomes a sample, is merged with a sample of the same instant, is skipped, or is refused.
   * The statistics of the process compare `received` with the sum of these outcomes.
   */
  counts = { received: 0, samples: 0, merged: 0, skipped: 0, relative: 0 };
  /** Measurements whose times count from the receipt, by the id or name of the sensor. `ReceiptTimes` moves each to its own instant. */
  untimed: Map<string, Untimed> | null = null;
  /**
   * The last of two values with the same instant is stored, and not the greater: for a device that reports changes in
   * order, also two within one ms, and sends no sample twice.
   */
  keepsLast = false;
  /** The decoder of the format sets it. */
  pathOf: PathOf = PATHS.array;
  /** Remedy for a name that is not valid. The decoder of the format sets it. */
  nameRemedy = '';
  #rules;
  // Usually the next sample has the same sensor, and its name is the same string object. So a map lookup is saved.
  #latestName = '';
  #latest: SensorSamples | undefined = undefined;

  constructor(rules: TimeRules, names: NameCache | null = null) {
    this.#rules = rules;
    this.names = names;
  }

  /** `index`: of the element in the message; `sensor`: id or name as in the message */
  add(index: number, sensor: string, ts: number, value: number) {
    if (!Number.isFinite(value)) return this.refuse(index, 'not_finite', 'value');
    if (ts < this.#rules.oldest) return this.refuse(index, 'too_old', 'ts', tooOldRule(ts, this.#rules));
    if (ts > this.#rules.newest) return this.refuse(index, 'in_future', 'ts', inFutureRule(ts, this.#rules));
    this.#push(index, sensor, ts, value);
  }

  /** Returns the index of the sample among the samples of the sensor. */
  #push(index: number, sensor: string, ts: number, value: number): number {
    this.counts.samples++;
    const samples = this.#latest && sensor === this.#latestName ? this.#latest : this.sensors.get(sensor);
    this.#latestName = sensor;
    this.#latest = samples;
    if (samples) {
      samples.times.push(ts);
      samples.values.push(value);
      return samples.indexes.push(index) - 1;
    }
    // An array literal with one element reserves one slot; an empty array reserves 17 at its first push.
    this.#latest = { times: [ts], values: [value], indexes: [index] };
    this.sensors.set(sensor, this.#latest);
    return 0;
  }

  get receivedAt() {
    return this.#rules.receivedAt;
  }

  isTimely(ts: number): boolean {
    return ts >= this.#rules.oldest && ts <= this.#rules.newest;
  }

  /** Reads `ts` of plain JSON: a number in the unit of TS_UNIT, or ISO 8601. Returns null if `ts` is no time. */
  timeOf(ts: unknown): number | null {
    if (typeof ts === 'string') return parseTime(ts);
    if (typeof ts !== 'number') return null;
    const { unitMs = 1 } = this.#rules;
    if (unitMs !== 1) return Number.isFinite(ts) ? Math.round(ts * unitMs) : null;
    return Number.isInteger(ts) ? ts : null;
  }

  /**
   * Programs in the field send the time of a sensor map in any unit. If a number is no accepted time in the unit of
   * TS_UNIT, but is one in exactly one of s, ms, µs and ns, it is read in that unit. null: `ts` is no time.
   */
  timeBySize(ts: unknown): number | null {
    const time = this.timeOf(ts);
    if (typeof ts !== 'number' || (time !== null && this.isTimely(time))) return time;
    const times = UNITS_MS.map((ms) => Math.round(ts * ms)).filter((other) => this.isTimely(other));
    return times.length === 1 ? Number(times[0]) : time;
  }

  refuseTime(index: number, ts: unknown) {
    const { oldest, newest, unitMs = 1 } = this.#rules;
    // Many programs send seconds with a fraction. The refusal then names seconds as the probable mistake.
    const isSeconds = typeof ts === 'number' && ts * 1000 >= oldest && ts * 1000 <= newest;
    const rule = unitMs === 1 ? undefined : 'must be epoch seconds, since TS_UNIT is s, or ISO 8601';
    this.refuse(index, 'bad_timestamp', 'ts', isSeconds ? secondsRule(ts) : rule);
  }

  /**
   * `agoMs`: offset from the time of receipt, negative for the past; 0: no time. Values of one sensor without a time get
   * instants 1 ms apart.
   */
  addRelative(index: number, sensor: string, agoMs: number, value: number) {
    this.untimed ??= new Map();
    const untimed = this.untimed.get(sensor) ?? { count: 0, places: [] };
    if (untimed.count === 0 && untimed.places.length === 0) this.untimed.set(sensor, untimed);
    const { receivedAt, relative, oldest, newest } = this.#rules;
    const ts = receivedAt + (agoMs === 0 ? untimed.count++ : agoMs);
    if (!relative) return this.refuse(index, 'bad_timestamp', 'ts', NO_RELATIVE_TIMES);
    this.counts.relative++;
    // `ReceiptTimes` decides how far ahead a measurement without a time may be.
    const isGood = Number.isFinite(value) && ts >= oldest && (agoMs === 0 || ts <= newest);
    if (isGood) untimed.places.push(this.#push(index, sensor, ts, value));
    else this.add(index, sensor, ts, value);
  }

  moveUntimed(sensor: string, ms: number) {
    const samples = this.sensors.get(sensor);
    if (!samples || ms === 0) return;
    for (const place of this.untimed?.get(sensor)?.places ?? []) {
      samples.times[place] = Number(samples.times[place]) + ms;
    }
  }

  #keep(sensor: string, samples: SensorSamples) {
    this.#latest = undefined;
    if (samples.indexes.length > 0) this.sensors.set(sensor, samples);
    else this.sensors.delete(sensor);
  }

  /** `field`: the field that breaks the rule, as in `pathOf`; default: the element itself */
  refuse(index: number, code: ErrorCode, field?: string, rule: string = ruleOf(code)) {
    this.refused.push({ index, code, path: this.pathOf(index, field), rule });
  }

  /** Counts elements of the payload, whether they are stored or not. */
  countReceived(elements: number) {
    this.counts.received += elements;
  }

  /** Only for a settled batch. */
  measurementCounts(): MeasurementCounts {
    const { received, samples, merged, skipped } = this.counts;
    const refused = this.refused.length;
    const wholes = refused === 0 ? 0 : this.refused.filter(({ index }) => index < 0).length;
    return { received: received + wholes, stored: samples, merged, refused, skipped };
  }

  /** For an element of a kind that Millrace does not store, such as a text. */
  skip() {
    this.counts.skipped++;
  }

  /** `refused`: at least one element is refused, and none is stored */
  get outcome(): 'accepted' | 'refused' {
    return this.refused.length > 0 && this.counts.samples === 0 ? 'refused' : 'accepted';
  }

  /** Before another decoder reads the payload, or the whole message is refused. */
  clear() {
    this.sensors.clear();
    this.#latest = undefined;
    this.refused.length = 0;
    this.untimed = null;
    this.counts = { received: 0, samples: 0, merged: 0, skipped: 0, relative: 0 };
  }

  refuseSensor(sensor: string, code: ErrorCode) {
    const samples = this.sensors.get(sensor);
    if (!samples) return;
    this.sensors.delete(sensor);
    this.#latest = undefined;
    this.counts.samples -= samples.times.length;
    const field = code === 'bad_id' || code === 'unknown_sensor' ? 'sensor' : undefined;
    const rule = code === 'bad_id' ? brokenNameRule(sensor) + this.nameRemedy : ruleOf(code);
    for (const index of samples.indexes) this.refuse(index, code, field, rule);
  }

  /** A refusal of the whole message (index -1) stays. */
  keepOnly(isWanted: (index: number) => boolean) {
    this.refused = this.refused.filter(({ index }) => index < 0 || isWanted(index));
    this.#latest = undefined;
    Object.assign(this.counts, { samples: 0, skipped: 0 });
    for (const [sensor, all] of this.sensors) {
      const wanted = pick(all, isWanted);
      this.counts.samples += wanted.indexes.length;
      this.#keep(sensor, wanted);
    }
    this.counts.received = this.counts.samples + this.refused.filter(({ index }) => index >= 0).length;
  }
}

/** Returns null if the time is accepted. */
export function timeRefusal(
  ts: number,
  rules: Pick<TimeRules, 'oldest' | 'newest'>,
): { code: ErrorCode; rule: string } | null {
  if (ts < rules.oldest) return { code: 'too_old', rule: tooOldRule(ts, rules) };
  if (ts > rules.newest) return { code: 'in_future', rule: inFutureRule(ts, rules) };
  return null;
}

const NO_RELATIVE_TIMES = 'must be an absolute time, since RELATIVE_TIMES is off';

const tooOldRule = (ts: number, { oldest, newest }: Pick<TimeRules, 'oldest' | 'newest'>) =>
  ts * 1000 >= oldest && ts * 1000 <= newest
    ? secondsRule(ts)
    : `must not be before ${formatTime(oldest)}, as far back as HISTORY_DAYS reaches`;

const secondsRule = (ts: number) => `${ts} is ${new Date(ts).getUTCFullYear()} in ms; did you send seconds?`;

const inFutureRule = (
  ts: number,
  { oldest, newest, unitMs = 1 }: Pick<TimeRules, 'oldest' | 'newest' | 'unitMs'>,
) =>
  unitMs !== 1 && ts / unitMs >= oldest && ts / unitMs <= newest
    ? `${ts / unitMs} is beyond ${formatTime(newest)} in seconds; did you send milliseconds? TS_UNIT is s`
    : `must not be after ${formatTime(newest)}, as far ahead as MAX_CLOCK_SKEW allows`;

function pick(
  { times, values, indexes }: SensorSamples,
  isWanted: (index: number) => boolean,
): SensorSamples {
  const isKept = (_: unknown, i: number) => isWanted(Number(indexes[i]));
  return { times: times.filter(isKept), values: values.filter(isKept), indexes: indexes.filter(isWanted) };
}

/** A message may name a sensor by its id and by its name. The result has the order of the message. */
export function joinSamples(some: SensorSamples, others: SensorSamples): SensorSamples {
  const indexes = [...some.indexes, ...others.indexes];
  const times = [...some.times, ...others.times];
  const values = [...some.values, ...others.values];
  const order = [...indexes.keys()].sort((a, b) => Number(indexes[a]) - Number(indexes[b]));
  const sorted = (list: number[]) => order.map((place) => list[place] as number);
  return { times: sorted(times), values: sorted(values), indexes: sorted(indexes) };
}
