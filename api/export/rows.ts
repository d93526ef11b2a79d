/** @import { Numbers } from '../../schema/packed/series.js' */

/**
 * The labels of a sensor, which each of its rows in a file repeats.
 *
 * @typedef {object} Labels
 * @property {string} device name of the device, or its id if it has no name
 * @property {string} sensor name of the sensor, or its id if it has no name
 * @property {string | null} type
 * @property {string | null} unit
 */

/**
 * Samples of one sensor: the elements of `times` and `values` at the indexes [from, to).
 *
 * @typedef {object} Samples
 * @property {Labels} labels the same object for all samples of a sensor
 * @property {Numbers} times epoch ms
 * @property {Numbers} values
 * @property {number} from
 * @property {number} to
 */

/** Names of the label columns, which are the members of `Labels`. */
export const LABELS = /** @type {const} */ (['device', 'sensor', 'type', 'unit']);

/** The columns of a file, in their order. */
export const COLUMNS = /** @type {const} */ (['ts', ...LABELS, 'value']);

/** Rows of one group, column by column. Labels are stored once for a run of rows, because the samples of a sensor follow each other. */
export class RowGroup {
  /** Times in epoch ms. */
  times;
  values;
  count = 0;
  /** @type {Array<{ labels: Labels, count: number }>} */
  runs = [];

  /** @param {number} capacity rows */
  constructor(capacity) {
    this.times = new Float64Array(capacity);
    this.values = new Float64Array(capacity);
  }

  /** @returns {boolean} whether the group is full */
  get isFull() {
    return this.count === this.times.length;
  }

  /**
   * Adds as many samples as fit into the group.
   *
   * @param {Samples} samples
   * @returns {number} the index after the last sample that was added
   */
  add({ labels, times, values, from, to }) {
    const end = Math.min(to, from + this.times.length - this.count);
    for (let index = from, at = this.count; index < end; index++, at++) {
      this.times[at] = /** @type {number} */ (times[index]);
      this.values[at] = /** @type {number} */ (values[index]);
    }
    const last = this.runs.at(-1);
    if (last?.labels === labels) last.count += end - from;
    else if (end > from) this.runs.push({ labels, count: end - from });
    this.count += end - from;
    return end;
  }

  clear() {
    this.count = 0;
    this.runs = [];
  }
}

/**
 * Gathers samples into groups of a fixed number of rows. One group is in memory at a time.
 *
 * @param {AsyncIterable<Samples>} source
 * @param {number} capacity rows of a group
 * @returns {AsyncGenerator<RowGroup, void>} groups that are not empty. All groups are one object, which is filled again
 */
export async function* rowGroups(source, capacity) {
  const group = new RowGroup(capacity);
  for await (const samples of source) {
    for (let from = samples.from; from < samples.to; ) {
      from = group.add({ ...samples, from });
      if (!group.isFull) continue;
      yield group;
      group.clear();
    }
  }
  if (group.count > 0) yield group;
}

/**
 * Finds the distinct values of a label in a group, and the runs of rows that have them.
 *
 * @param {RowGroup} group
 * @param {typeof LABELS[number]} name
 * @returns {{ values: string[], runs: Array<{ index: number, count: number }> }} `index`: index in `values`, or -1 for null
 */
export function labelRuns({ runs }, name) {
  /** @type {Map<string, number>} */
  const indexes = new Map();
  /** @type {Array<{ index: number, count: number }>} */
  const found = [];
  for (const { labels, count } of runs) {
    const value = labels[name];
    const index = value === null ? -1 : (indexes.get(value) ?? indexes.size);
    if (value !== null) indexes.set(value, index);
    const last = found.at(-1);
    if (last?.index === index) last.count += count;
    else found.push({ index, count });
  }
  return { values: [...indexes.keys()], runs: found };
}
