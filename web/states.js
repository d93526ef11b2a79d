/** Sensors that measure a state: booleans as 0 and 1, and small whole numbers of an enumeration. */

/**
 * @typedef {{ name: string | null, type: string | null, unit: string | null }} Labels of a sensor
 * @typedef {(value: number) => string} StateNames the name of each state
 */

/** Words in names and types, with the names of 0 and 1. The first match counts. @type {[words: string[], names: [string, string]][]} */
const NAMES = [
  [['closed'], ['open', 'closed']],
  [
    ['door', 'window', 'gate', 'valve', 'lid', 'hatch', 'open', 'opened', 'contact', 'damper'],
    ['closed', 'open'],
  ],
  [
    ['lock', 'locked'],
    ['unlocked', 'locked'],
  ],
  [
    ['motion', 'presence', 'occupancy', 'occupied', 'leak', 'smoke', 'detected'],
    ['clear', 'detected'],
  ],
  [
    ['alarm', 'fault', 'error', 'warning', 'active'],
    ['inactive', 'active'],
  ],
  [
    ['online', 'connected', 'connection', 'reachable'],
    ['offline', 'online'],
  ],
  [
    ['running', 'run'],
    ['stopped', 'running'],
  ],
  [
    [
      'switch',
      'relay',
      'power',
      'enabled',
      'light',
      'heater',
      'pump',
      'fan',
      'on',
      'boolean',
      'bool',
      'binary',
      'state',
    ],
    ['off', 'on'],
  ],
];

/** Types of enumerations. */
const ENUMERATIONS = ['state', 'status', 'mode', 'enum', 'enumeration', 'phase', 'step', 'program'];
const MOST_STATES = 8;

/** @param {Labels} labels @returns {boolean} */
const hasUnit = ({ unit }) => unit !== null && unit !== '' && unit !== '/' && unit !== '1';

/** @param {string | null} text @returns {string[]} `door.isOpen` has `door`, `is`, `open` */
const wordsOf = (text) =>
  (text ?? '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);

/** @param {Labels} labels @returns {[string, string] | null} the names of 0 and 1; null: the labels do not show that it is a state */
function namesOf(labels) {
  if (hasUnit(labels)) return null;
  const words = new Set([...wordsOf(labels.name), ...wordsOf(labels.type)]);
  return NAMES.find(([known]) => known.some((word) => words.has(word)))?.[1] ?? null;
}

/**
 * A value alone as the name of its state.
 *
 * @param {Labels} labels
 * @param {number | null} value
 * @returns {string | null} null: it is a number
 */
export const stateText = (labels, value) =>
  value === 0 || value === 1 ? (namesOf(labels)?.[value] ?? null) : null;

/**
 * What a shape of the chart has of a signal.
 *
 * @typedef {object} Signal
 * @property {number | null} stepMs width of a bin; null: these are samples
 * @property {number[]} ts epoch ms
 * @property {number[]} min
 * @property {(number | null)[]} avg
 * @property {number[]} max
 * @property {number[]} count
 */

/**
 * Finds whether a signal is one of states: it has no unit, and only 0 and 1, or by its type few small whole numbers.
 *
 * @param {Pick<Signal, 'min' | 'max'>} shape
 * @param {Labels} labels
 * @returns {StateNames | null} null: it is a number
 */
export function statesOf({ min, max }, labels) {
  if (hasUnit(labels) || min.length === 0) return null;
  /** @type {Set<number>} */
  const values = new Set();
  for (const column of min === max ? [min] : [min, max]) {
    for (const value of column) {
      values.add(value);
      if (values.size > MOST_STATES) return null;
    }
  }
  const isBinary = [...values].every((value) => value === 0 || value === 1);
  const isEnumeration =
    wordsOf(labels.type).some((word) => ENUMERATIONS.includes(word)) &&
    [...values].every((value) => Number.isInteger(value) && value >= 0 && value < 100);
  if (!isBinary && !isEnumeration) return null;
  const names = isBinary ? namesOf(labels) : null;
  return (value) => names?.[value] ?? String(value);
}

/**
 * A stretch of time in one state.
 *
 * @typedef {object} Stretch
 * @property {number} from epoch ms
 * @property {number} to epoch ms
 * @property {number} value the state, or the lowest of a bin with several
 * @property {number} highest the same, or the highest of a bin with several
 * @property {number} share of the samples of a bin in the higher state, from 0 to 1; 1 where there is only one state
 */

/**
 * The bands of a signal of states. A sample holds until the next one, unless a gap lies between them.
 *
 * @param {Signal} shape
 * @param {{ columns: [number[], ...unknown[]], places: number[] }} picture of the same, with its gaps
 * @returns {Stretch[]} oldest first
 */
export function stretchesOf({ ts, min, avg, max, stepMs }, { columns: [x], places }) {
  /** @type {Stretch[]} */
  const stretches = [];
  for (const [entry, place] of places.entries()) {
    if (place === -1) continue;
    const from = ts[place] ?? 0;
    const isFollowed = places[entry + 1] !== undefined && places[entry + 1] !== -1;
    const to = stepMs === null ? (isFollowed ? (x[entry + 1] ?? from) : from) : from + stepMs;
    const [value = 0, highest = 0] = [min[place], max[place]];
    const share = highest > value ? ((avg[place] ?? value) - value) / (highest - value) : 1;
    const last = stretches.at(-1);
    const goesOn = last && last.to === from && last.value === value && last.highest === highest;
    if (goesOn && value === highest) last.to = to;
    else stretches.push({ from, to, value, highest, share });
  }
  return stretches;
}

/** @param {number[]} values of samples @returns {number} how often the state changed */
export const changesOf = (values) =>
  values.reduce((count, value, at) => count + Number(at > 0 && value !== values[at - 1]), 0);

/**
 * The part of the samples in each of two states. Bins of more states do not know it.
 *
 * @param {Pick<Signal, 'min' | 'avg' | 'max' | 'count' | 'stepMs'>} shape
 * @returns {{ value: number, share: number }[]} by value; empty: not known
 */
export function sharesOf({ min, avg, max, count, stepMs }) {
  /** @type {Map<number, number>} */
  const samples = new Map();
  const add = (/** @type {number} */ value, /** @type {number} */ number) =>
    samples.set(value, (samples.get(value) ?? 0) + number);
  for (const [at, low] of min.entries()) {
    const [high = low, mean = low, all = 0] = [max[at], avg[at] ?? low, count[at]];
    const inHigh = high > low ? ((mean - low) / (high - low)) * all : 0;
    add(low, all - inHigh);
    if (high > low) add(high, inHigh);
  }
  const values = [...samples.keys()].sort((a, b) => a - b);
  if (stepMs !== null && values.some((value) => value > 1)) return [];
  const total = [...samples.values()].reduce((sum, number) => sum + number, 0);
  return values.map((value) => ({ value, share: (samples.get(value) ?? 0) / total }));
}
