/**
 * A list of numbers. Decoders return plain arrays, because they do not know the length in advance. Stored blobs give a
 * `Float64Array`. All functions here accept both.
 *
 * @typedef {number[] | Float64Array} Numbers
 */

/**
 * The samples of one sensor. A sorted series has strictly ascending times: one sample per instant.
 *
 * @typedef {object} Series
 * @property {Numbers} times epoch ms, whole numbers
 * @property {Numbers} values as many, finite wherever they came through ingest
 */

/**
 * A sorted series, and at how many instants different values met.
 *
 * @typedef {Series & { conflicts: number }} Merged
 */

/**
 * The rule for two values of one instant: the one whose 8 big-endian bytes are greater wins. The databases decide the same way
 * between cells of equal timestamps. Any negative beats any positive, -0 beats 0, and within one sign the greater
 * magnitude wins. It never depends on the order of arrival, so merging is commutative, associative and idempotent.
 *
 * Ingest refuses NaN. If a blob of another writer has one, it counts as the NaN with bytes 7ff8000000000000,
 * above +Infinity and below every negative: JavaScript hides sign and payload of a NaN and may change them in passing.
 *
 * @param {number} a
 * @param {number} b
 */
export function greaterValue(a, b) {
  const negative = isNegative(a);
  if (negative !== isNegative(b)) return negative ? a : b;
  return negative ? Math.min(a, b) : Math.max(a, b);
}

/** @param {number} value */
const isNegative = (value) => value < 0 || Object.is(value, -0);

/**
 * Sorts the samples of one sensor by time and leaves one per instant.
 *
 * @param {Numbers} times epoch ms, in order of arrival
 * @param {Numbers} values
 * @returns {Merged} the given arrays themselves if they are sorted already, which is the usual case
 */
export function sortMerge(times, values) {
  if (isAscending(times)) return { times, values, conflicts: 0 };
  const order = Array.from(times, (_, index) => index);
  // V8 sorts by merging the runs that it finds: sorted series laid end to end cost n log(number of series).
  order.sort((a, b) => /** @type {number} */ (times[a]) - /** @type {number} */ (times[b]));
  return mergeInOrder(times, values, order);
}

/**
 * Sorts the samples of one sensor in one message by time and leaves one per instant: the last one in the message, for a
 * protocol whose messages have the changes of a sensor in their order.
 *
 * @param {Numbers} times epoch ms, in the order of the message
 * @param {Numbers} values
 * @returns {Merged} the given arrays themselves if they are sorted already, which is the usual case
 */
export function sortKeepLast(times, values) {
  if (isAscending(times)) return { times, values, conflicts: 0 };
  /** @type {Map<number, number>} index of the last value of each instant */
  const last = new Map();
  /** @type {Set<number>} */
  const conflicts = new Set();
  for (let index = 0; index < times.length; index++) {
    const time = /** @type {number} */ (times[index]);
    const before = last.get(time);
    if (before !== undefined && !Object.is(values[before], values[index])) conflicts.add(time);
    last.set(time, index);
  }
  const instants = [...last.keys()].sort((a, b) => a - b);
  return {
    times: instants,
    values: instants.map((time) => /** @type {number} */ (values[/** @type {number} */ (last.get(time))])),
    conflicts: conflicts.size,
  };
}

/**
 * The union of many series: batches that overlap, rows of packed hours, late samples.
 *
 * @param {Series[]} list in any order, each sorted
 * @returns {Merged}
 */
export function mergeSeries(list) {
  const filled = list.filter(({ times }) => times.length > 0);
  const only = filled[0];
  if (filled.length === 1 && only) return sortMerge(only.times, only.values);
  // By their beginnings, rows that do not overlap need no further sorting, and rows that do make long runs.
  filled.sort((a, b) => /** @type {number} */ (a.times[0]) - /** @type {number} */ (b.times[0]));
  const length = filled.reduce((sum, { times }) => sum + times.length, 0);
  const times = new Float64Array(length);
  const values = new Float64Array(length);
  let at = 0;
  for (const series of filled) {
    times.set(series.times, at);
    values.set(series.values, at);
    at += series.times.length;
  }
  return sortMerge(times, values);
}

/** @param {Numbers} times @returns {boolean} whether they are those of a sorted series: strictly ascending */
export function isAscending(times) {
  let previous = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < times.length; i++) {
    const time = /** @type {number} */ (times[i]);
    if (time <= previous) return false;
    previous = time;
  }
  return true;
}

/**
 * @param {Numbers} times
 * @param {Numbers} values
 * @param {number[]} order indexes by ascending time
 * @returns {Merged}
 */
function mergeInOrder(times, values, order) {
  /** @type {number[]} */
  const outTimes = [];
  /** @type {number[]} */
  const outValues = [];
  let conflicts = 0;
  let inConflict = false;
  for (const index of order) {
    const time = /** @type {number} */ (times[index]);
    const value = /** @type {number} */ (values[index]);
    const last = outTimes.length - 1;
    if (last < 0 || outTimes[last] !== time) {
      outTimes.push(time);
      outValues.push(value);
      inConflict = false;
    } else if (!Object.is(outValues[last], value)) {
      outValues[last] = greaterValue(/** @type {number} */ (outValues[last]), value);
      // Counted once an instant, so that the count does not depend on the order either.
      if (!inConflict) conflicts++;
      inConflict = true;
    }
  }
  return { times: outTimes, values: outValues, conflicts };
}
