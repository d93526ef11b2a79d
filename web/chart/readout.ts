import type { Zone } from '../format.ts';
import { formatDate, formatDateTime, formatNumber, formatTimeMs, formatUnit } from '../format.ts';
import type { Labels, StateNames } from '../states.ts';
import { statesOf } from '../states.ts';
import type { Scale, UnitChoices } from '../units.ts';
import { isAsSent, plainScale, quantityOf, scaleFor, toShown } from '../units.ts';
import type { Shape } from './shape.ts';
import { firstAtOrAfter, middleOf } from './shape.ts';

export interface PointWords {
  when: string;
  /** value of the sample, or average of the bin */
  value: string;
  /** minimum to maximum of a bin; empty: the point is a sample */
  band: string;
}

export function pointWords(
  shape: Shape,
  place: number,
  unit: string | null,
  zone: Zone,
  states: StateNames | null = null,
): PointWords | null {
  const ts = shape.ts[place];
  if (ts === undefined) return null;
  if (states) return stateWords(shape, place, zone, states);
  const value = `${formatNumber(shape.avg[place])} ${formatUnit(unit)}`.trim();
  if (shape.stepMs === null)
    return { when: `${formatDate(ts, zone)} ${formatTimeMs(ts, zone)}`, value, band: '' };
  const band = `${formatNumber(shape.min[place])} to ${formatNumber(shape.max[place])}`;
  return { when: `from ${formatDateTime(ts, zone)}`, value, band };
}

function stateWords(
  { ts, min, avg, max, stepMs }: Shape,
  place: number,
  zone: Zone,
  states: StateNames,
): PointWords {
  const [at = 0, low = 0, high = 0] = [ts[place], min[place], max[place]];
  if (stepMs === null) {
    return { when: `${formatDate(at, zone)} ${formatTimeMs(at, zone)}`, value: states(low), band: '' };
  }
  const when = `from ${formatDateTime(at, zone)}`;
  if (low === high) return { when, value: states(low), band: '' };
  const share = ((avg[place] ?? low) - low) / (high - low);
  const isTwo = low === 0 && high === 1;
  const band = isTwo ? `${states(1)} in ${formatNumber(Math.round(share * 1000) / 10)} % of the samples` : '';
  return { when, value: `${states(low)} to ${states(high)}`, band };
}

export const noSampleWords = (ts: number, zone: Zone): PointWords => ({
  when: formatDateTime(ts, zone),
  value: 'no sample here',
  band: '',
});

export const inOneLine = (words: PointWords | null): string =>
  words === null ? '' : [words.value, words.band, words.when].filter(Boolean).join(', ');

export type Reading = { avg: number | null; min: number; max: number; isRaw: boolean };

/** @param reachMs maximum distance in ms of a sample, or of the middle of a bin @returns null: no sample or bin is near */
export function readingAt(shape: Shape, ts: number, reachMs: number): Reading | null {
  const right = firstAtOrAfter(shape.ts, ts);
  const near = [right - 1, right].filter((at) => shape.ts[at] !== undefined);
  const distance = (at: number) => Math.abs(middleOf(shape, at) - ts);
  const [at] = near.sort((a, b) => distance(a) - distance(b));
  if (at === undefined || distance(at) > Math.max(reachMs, (shape.stepMs ?? 0) / 2)) return null;
  return {
    avg: shape.avg[at] ?? null,
    min: shape.min[at] ?? 0,
    max: shape.max[at] ?? 0,
    isRaw: shape.stepMs === null,
  };
}

export const stateAt = ({ min, max }: Pick<Reading, 'min' | 'max'>, states: StateNames): string =>
  min === max ? states(min) : `${states(min)} to ${states(max)}`;

/** A signal in its drawn form: in a suitable unit, as states, or as the rate of a counter. */
export interface Presented {
  shape: Shape;
  scale: Scale;
  /** scale of the samples; it differs from `scale` if `shape` has the rates of a counter, which have another unit */
  values: Scale;
  states: StateNames | null;
  /** the signal is a counter, which only rises, so the chart can show its rate */
  isCounter: boolean;
  /** `shape` has the rates of a counter instead of its samples */
  isRate: boolean;
}

/** @param how `asRate`: if the signal is a counter, its rate is drawn */
export function present(
  shape: Shape,
  labels: Labels,
  { choices, asRate = false }: { choices: UnitChoices; asRate?: boolean },
): Presented {
  const states = statesOf(shape, labels);
  if (states) {
    const scale = plainScale(labels.unit);
    return { shape, scale, values: scale, states, isCounter: false, isRate: false };
  }
  const values = scaleFor(labels.unit, extremesOf(shape), choices);
  const counts = isCounter(shape, labels.unit);
  if (!counts || !asRate) {
    return { shape: inScale(shape, values), scale: values, values, states, isCounter: counts, isRate: false };
  }
  const rate = rateOf(shape, labels.unit);
  const scale = scaleFor(rate.unit, extremesOf(rate.shape));
  return { shape: inScale(rate.shape, scale), scale, values, states, isCounter: true, isRate: true };
}

function* extremesOf({ min, max }: Shape) {
  yield* min;
  if (min !== max) yield* max;
}

/** @returns the shape in the scale; the same object if the values do not change */
export function inScale(shape: Shape, scale: Scale): Shape {
  if (isAsSent(scale)) return shape;
  const avg = shape.avg.map((value) => (value === null ? null : toShown(scale, value)));
  const isOne = shape.stepMs === null;
  const column = (values: number[]) => values.map((value) => toShown(scale, value));
  return {
    ...shape,
    min: isOne ? (avg as number[]) : column(shape.min),
    avg,
    max: isOne ? (avg as number[]) : column(shape.max),
  };
}

/** Minimum number of points of a counter. With fewer points, a signal may rise by chance, and counts as no counter. */
const LEAST_POINTS = 8;
/** Maximum share of steps at which a counter restarts. With more restarts, the signal counts as no counter. */
const RESTARTS = 0.05;

/** A counter is never negative, and never decreases unless it restarted near zero. */
export function isCounter({ min, max }: Shape, unit: string | null): boolean {
  const quantity = quantityOf(unit);
  const mayCount = (quantity === null || quantity === 'energy') && !unit?.startsWith('%');
  if (max.length < LEAST_POINTS || !mayCount) return false;
  let restarts = 0;
  let rises = 0;
  for (const [at, highest] of max.entries()) {
    const lowest = min[at] ?? 0;
    if (lowest < 0) return false;
    const before = max[at - 1];
    if (before === undefined) continue;
    if (highest > before) rises += 1;
    if (lowest >= before) continue;
    if (lowest > before / 2) return false;
    restarts += 1;
  }
  return rises > 1 && restarts <= RESTARTS * max.length;
}

const PER: [unit: string, ms: number][] = [
  ['s', 1000],
  ['min', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
];

/** Computes the rate of a counter between its points. After a restart, it begins at zero. The rate of an energy is a power. */
export function rateOf(shape: Shape, unit: string | null): { shape: Shape; unit: string } {
  const { ts, max } = shape;
  const steps = ts.slice(1).map((at, index) => {
    const [before = 0, value = 0] = [max[index], max[index + 1]];
    return { rise: value < before ? value : value - before, lasted: at - (ts[index] ?? 0) };
  });
  const power = powerOf(unit);
  const largest = steps.reduce((most, { rise, lasted }) => Math.max(most, rise / lasted), 0);
  const [per, ms]: [unit: string, ms: number] = power
    ? ['s', power.factor]
    : (PER.find(([, length]) => largest * length >= 1) ?? ['d', 86_400_000]);
  const rates = steps.map(({ rise, lasted }) => (rise * ms) / lasted);
  const first = { ts: ts.slice(1), count: shape.count.slice(1) };
  return {
    shape: { ...shape, ...first, min: rates, avg: rates, max: rates },
    unit: power?.unit ?? `${unit && unit !== '/' ? unit : ''}/${per}`,
  };
}

/** @returns the unit of the power, for example kW for kWh, and the factor from energy per ms; null: no unit of energy */
function powerOf(unit: string | null): { unit: string; factor: number } | null {
  const [, prefix = '', energy] = /^([kMG]?)(J|Wh)$/.exec(unit ?? '') ?? [];
  if (!energy) return null;
  return { unit: `${prefix}W`, factor: energy === 'J' ? 1000 : 3_600_000 };
}
