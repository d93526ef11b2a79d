import { greaterValue } from '../../schema/packed/series.js';

/** @import { Numbers, Series } from '../../schema/packed/series.js' */
/** @import { Bitmap, Sent } from './ledger-parts.js' */
/** @import { Findings, Kind } from './report.js' */

/** Compares the samples of one sensor hour by hour, in order of time. */
export class SensorComparison {
  #device;
  #sensor;
  #sent;
  #acknowledged;
  #range;
  #findings;
  #expected;
  counts = { acknowledged: 0, stored: 0 };
  /** @type {{ ts: number, value: number } | null} the newest stored sample, in the range or not */
  #newest = null;
  #next = 0;

  /**
   * @param {object} options
   * @param {string} options.device name
   * @param {string} options.sensor name
   * @param {Sent} options.sent
   * @param {Bitmap} options.acknowledged
   * @param {{ from: number, to: number }} options.range epoch ms; samples outside the range are not compared
   * @param {Findings} options.findings
   */
  constructor({ device, sensor, sent, acknowledged, range, findings }) {
    this.#device = device;
    this.#sensor = sensor;
    this.#sent = sent;
    this.#acknowledged = acknowledged;
    this.#range = range;
    this.#findings = findings;
    this.#expected = groupByInstant(sent.times);
    while (this.#next < this.#expected.times.length && at(this.#expected.times, this.#next) < range.from)
      this.#next += 1;
  }

  /**
   * Compares the stored rows of an hour.
   *
   * @param {number} end epoch ms of the end of the hour
   * @param {Series[]} rows of that hour
   */
  addHour(end, rows) {
    const values = rows.flatMap((row) => [...row.values]);
    const stored = groupByInstant(rows.flatMap((row) => [...row.times]));
    for (const [place, ts] of stored.times.entries()) {
      const found = stored.samplesAt(place).map((index) => at(values, index));
      this.#newest = { ts, value: found.reduce(greaterValue) };
      if (ts < this.#range.from || ts >= this.#range.to) continue;
      this.#missingBefore(ts);
      this.counts.stored += 1;
      if (this.#expected.times[this.#next] === ts) this.#compareInstant(this.#next++, found);
      else this.#report('unknown', ts, `${found.map(shown)} is stored and was never sent`);
    }
    this.#missingBefore(Math.min(end, this.#range.to));
  }

  /** Returns the newest stored sample. */
  newest() {
    return this.#newest;
  }

  /** @param {Kind} kind @param {number} ts @param {string} message */
  #report(kind, ts, message) {
    return this.#findings.add(kind, { device: this.#device, sensor: this.#sensor, ts, message });
  }

  /** @param {number} instant index in `expected.times` */
  #wasSent(instant) {
    const samples = this.#expected.samplesAt(instant);
    const values = samples.map((index) => at(this.#sent.values, index));
    const kept = samples.filter((index) => this.#acknowledged.has(at(this.#sent.messages, index)));
    return { values, acknowledged: kept.map((index) => at(this.#sent.values, index)) };
  }

  /** @param {number} instant index in `expected.times` @param {number[] | null} stored values; null: nothing is stored */
  #compareInstant(instant, stored) {
    const ts = at(this.#expected.times, instant);
    const known = this.#wasSent(instant);
    if (known.acknowledged.length > 0) this.counts.acknowledged += 1;
    if (stored === null) {
      if (known.acknowledged.length > 0)
        this.#report('missing', ts, `${known.acknowledged.map(shown)} is not stored`);
      return;
    }
    const strange = stored.filter((value) => !known.values.some((sentValue) => Object.is(sentValue, value)));
    const wins = stored.reduce(greaterValue);
    const beaten = known.acknowledged.some((value) => !Object.is(greaterValue(value, wins), wins));
    if (strange.length > 0 || beaten) {
      this.#report('differing', ts, `${known.values.map(shown)} was sent, ${stored.map(shown)} is stored`);
    }
  }

  /** Reports samples that were acknowledged before `ts` and are missing. @param {number} ts epoch ms */
  #missingBefore(ts) {
    for (
      ;
      this.#next < this.#expected.times.length && at(this.#expected.times, this.#next) < ts;
      this.#next += 1
    )
      this.#compareInstant(this.#next, null);
  }
}

/** @param {number[]} numbers @param {number} index */
const at = (numbers, index) => /** @type {number} */ (numbers[index]);

/** @param {number} value */
export const shown = (value) => (Object.is(value, -0) ? '-0' : String(value));

/**
 * Samples in order of time, grouped by their timestamp.
 *
 * @typedef {object} Instants
 * @property {number[]} times epoch ms, strictly ascending
 * @property {(at: number) => number[]} samplesAt returns the indexes of the samples that have the timestamp `times[at]`
 */

/**
 * @param {Numbers} times epoch ms, in any order
 * @returns {Instants}
 */
function groupByInstant(times) {
  const order = Array.from(times, (_, index) => index);
  order.sort((a, b) => /** @type {number} */ (times[a]) - /** @type {number} */ (times[b]));
  /** @type {number[]} index in `order` where each timestamp begins */
  const begins = [];
  /** @type {number[]} */
  const instants = [];
  for (let i = 0; i < order.length; i++) {
    const ts = /** @type {number} */ (times[/** @type {number} */ (order[i])]);
    if (ts === instants.at(-1)) continue;
    instants.push(ts);
    begins.push(i);
  }
  return {
    times: instants,
    samplesAt: (at) => order.slice(begins[at], begins[at + 1] ?? order.length),
  };
}
