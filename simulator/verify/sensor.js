import { greaterValue } from '../../schema/packed/series.js';

/** @import { Bitmap } from './bitmap.js' */
/** @import { Findings, Kind } from './findings.js' */
/** @import { Numbers, Series } from '../../schema/packed/series.js' */
/** @import { Sent } from './parts.js' */

/**
 * One sensor of the ledger, compared hour by hour, in order of time.
 *
 * @param {object} options
 * @param {string} options.device name
 * @param {string} options.sensor name
 * @param {Sent} options.sent
 * @param {Bitmap} options.acknowledged
 * @param {{ from: number, to: number }} options.range epoch ms: what is outside is not compared
 * @param {Findings} options.findings
 */
export function createSensorComparison({ device, sensor, sent, acknowledged, range, findings }) {
  const expected = groupByInstant(sent.times);
  const counts = { acknowledged: 0, stored: 0 };
  /** @type {{ ts: number, value: number } | null} the newest that is stored, in the range or not */
  let newest = null;
  let next = 0;
  while (next < expected.times.length && at(expected.times, next) < range.from) next += 1;

  /** @param {Kind} kind @param {number} ts @param {string} message */
  const report = (kind, ts, message) => findings.add(kind, { device, sensor, ts, message });

  /** @param {number} instant place in `expected` */
  function wasSent(instant) {
    const samples = expected.samplesAt(instant);
    const values = samples.map((index) => at(sent.values, index));
    const kept = samples.filter((index) => acknowledged.has(at(sent.messages, index)));
    return { values, acknowledged: kept.map((index) => at(sent.values, index)) };
  }

  /** @param {number} instant place in `expected` @param {number[] | null} stored values, null: nothing */
  function compareInstant(instant, stored) {
    const ts = at(expected.times, instant);
    const known = wasSent(instant);
    if (known.acknowledged.length > 0) counts.acknowledged += 1;
    if (stored === null) {
      if (known.acknowledged.length > 0)
        report('missing', ts, `${known.acknowledged.map(shown)} is not stored`);
      return;
    }
    const strange = stored.filter((value) => !known.values.some((sentValue) => Object.is(sentValue, value)));
    const wins = stored.reduce(greaterValue);
    const beaten = known.acknowledged.some((value) => !Object.is(greaterValue(value, wins), wins));
    if (strange.length > 0 || beaten) {
      report('differing', ts, `${known.values.map(shown)} was sent, ${stored.map(shown)} is stored`);
    }
  }

  /** Reports what was acknowledged before `ts` and has not come. @param {number} ts epoch ms */
  function missingBefore(ts) {
    for (; next < expected.times.length && at(expected.times, next) < ts; next += 1)
      compareInstant(next, null);
  }

  return {
    counts,

    /**
     * @param {number} end epoch ms of the end of the hour
     * @param {Series[]} rows of that hour
     */
    addHour(end, rows) {
      const values = rows.flatMap((row) => [...row.values]);
      const stored = groupByInstant(rows.flatMap((row) => [...row.times]));
      for (const [place, ts] of stored.times.entries()) {
        const found = stored.samplesAt(place).map((index) => at(values, index));
        newest = { ts, value: found.reduce(greaterValue) };
        if (ts < range.from || ts >= range.to) continue;
        missingBefore(ts);
        counts.stored += 1;
        if (expected.times[next] === ts) compareInstant(next++, found);
        else report('unknown', ts, `${found.map(shown)} is stored and was never sent`);
      }
      missingBefore(Math.min(end, range.to));
    },

    newest: () => newest,
  };
}

/** @typedef {ReturnType<typeof createSensorComparison>} SensorComparison */

/** @param {number[]} numbers @param {number} index */
const at = (numbers, index) => /** @type {number} */ (numbers[index]);

/** @param {number} value */
export const shown = (value) => (Object.is(value, -0) ? '-0' : String(value));

/**
 * Samples in order of time, together with those of the same instant.
 *
 * @typedef {object} Instants
 * @property {number[]} times epoch ms, strictly ascending
 * @property {(at: number) => number[]} samplesAt indexes of the samples of the instant at this place in `times`
 */

/**
 * @param {Numbers} times epoch ms, in any order
 * @returns {Instants}
 */
function groupByInstant(times) {
  const order = Array.from(times, (_, index) => index);
  order.sort((a, b) => /** @type {number} */ (times[a]) - /** @type {number} */ (times[b]));
  /** @type {number[]} where in `order` each instant begins */
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
