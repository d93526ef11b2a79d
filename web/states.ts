/** Functions for sensors that measure states: booleans as 0 and 1, or small whole numbers of an enumeration. */

export type Labels = { name: string | null; type: string | null; unit: string | null };

export type StateNames = (value: number) => string;

/** Words in sensor names and types, with the state names for 0 and 1. The first entry with a matching word counts. */
const NAMES: [words: string, zero: string, one: string][] = [
  ['closed', 'open', 'closed'],
  ['door window gate valve lid hatch open opened contact damper', 'closed', 'open'],
  ['lock locked', 'unlocked', 'locked'],
  ['motion presence occupancy occupied leak smoke detected', 'clear', 'detected'],
  ['alarm fault error warning active', 'inactive', 'active'],
  ['online connected connection reachable', 'offline', 'online'],
  ['running run', 'stopped', 'running'],
  ['switch relay power enabled light heater pump fan on boolean bool binary state', 'off', 'on'],
];

const ENUMERATIONS = ['state', 'status', 'mode', 'enum', 'enumeration', 'phase', 'step', 'program'];
const MOST_STATES = 8;

const hasUnit = ({ unit }: Labels): boolean => unit !== null && unit !== '' && unit !== '/' && unit !== '1';

/** @returns the words of a name: `door.isOpen` gives `door`, `is`, `open` */
const splitWords = (text: string | null): string[] =>
  (text ?? '')
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter(Boolean);

/** @returns state names for 0 and 1; null: the labels do not indicate a state */
function namesOf(labels: Labels): string[] | null {
  if (hasUnit(labels)) return null;
  const words = new Set([...splitWords(labels.name), ...splitWords(labels.type)]);
  return NAMES.find(([known]) => known.split(' ').some((word) => words.has(word)))?.slice(1) ?? null;
}

/** Returns the state name of a single value. @returns null: the value is no state */
export const stateText = (labels: Labels, value: number | null): string | null =>
  value === 0 || value === 1 ? (namesOf(labels)?.[value] ?? null) : null;

/** The part of a chart's shape that this file reads. */
export interface Signal {
  /** width of a bin in ms; null: the points are samples */
  stepMs: number | null;
  ts: number[];
  min: number[];
  avg: (number | null)[];
  max: number[];
  count: number[];
}

/** Detects a signal of states: no unit, and only 0 and 1, or an enumeration with a few small whole numbers. @returns null: no states */
export function statesOf({ min, max }: Pick<Signal, 'min' | 'max'>, labels: Labels): StateNames | null {
  if (hasUnit(labels) || min.length === 0) return null;
  const values: Set<number> = new Set();
  for (const column of min === max ? [min] : [min, max]) {
    for (const value of column) {
      values.add(value);
      if (values.size > MOST_STATES) return null;
    }
  }
  const isBinary = [...values].every((value) => value === 0 || value === 1);
  const isEnumeration =
    splitWords(labels.type).some((word) => ENUMERATIONS.includes(word)) &&
    [...values].every((value) => Number.isInteger(value) && value >= 0 && value < 100);
  if (!isBinary && !isEnumeration) return null;
  const names = isBinary ? namesOf(labels) : null;
  return (value) => names?.[value] ?? String(value);
}

export interface StateBand {
  from: number;
  to: number;
  /** the state, or the lowest state of a bin */
  value: number;
  /** the state, or the highest state of a bin */
  highest: number;
  /** share of the samples of a bin that are in the higher state, from 0 to 1; 1 if there is only one state */
  share: number;
}

/** The state of a sample lasts until the next sample, unless a gap lies between. @param picture drawn form of the shape, with its gaps */
export function stretchesOf(
  { ts, min, avg, max, stepMs }: Signal,
  { columns: [x], places }: { columns: [number[], ...unknown[]]; places: number[] },
): StateBand[] {
  const stretches: StateBand[] = [];
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
