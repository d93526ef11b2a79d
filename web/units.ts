import { decimalsFor, formatDuration, formatNumber, formatUnit, NOTHING } from './format.ts';
import type { Labels } from './states.ts';
import { stateText } from './states.ts';

/** How values of a unit are written: `shown = value * factor + offset`. Durations are written in their largest units. */
export interface Scale {
  /** the unit as it is shown */
  unit: string;
  factor: number;
  offset: number;
  /** length of the unit as sent, if a value alone reads better as a duration; null: a number */
  timeMs: number | null;
}

/** Quantities with a choice of units. */
export type Quantity = 'temperature' | 'pressure' | 'speed' | 'energy';

/** The chosen unit of each quantity; none: as sent. */
export type UnitChoices = Partial<Record<Quantity, string>>;

/** @returns the values as sent */
export const plainScale = (unit: string | null): Scale => ({
  unit: formatUnit(unit),
  factor: 1,
  offset: 0,
  timeMs: null,
});

/** Each unit in the base unit of its quantity: `base = value * factor + offset`. */
const QUANTITIES: Record<Quantity, Record<string, [factor: number, offset: number]>> = {
  temperature: { '°C': [1, 273.15], '°F': [5 / 9, 459.67 * (5 / 9)], K: [1, 0] },
  pressure: { Pa: [1, 0], hPa: [100, 0], kPa: [1000, 0], bar: [100_000, 0], psi: [6894.757, 0] },
  speed: { 'm/s': [1, 0], 'km/h': [1 / 3.6, 0], mph: [0.44704, 0], kn: [1852 / 3600, 0] },
  energy: { J: [1, 0], kWh: [3_600_000, 0] },
};

/** Other names of the units above, as devices send them. */
const ALIASES: Record<string, string> = {
  Cel: '°C',
  C: '°C',
  degC: '°C',
  '[degF]': '°F',
  degF: '°F',
  mbar: 'hPa',
  kph: 'km/h',
};

const PREFIXES: Record<string, number> = {
  p: -12,
  n: -9,
  µ: -6,
  u: -6,
  m: -3,
  '': 0,
  k: 3,
  M: 6,
  G: 9,
  T: 12,
  P: 15,
};
const WRITTEN = ['p', 'n', 'µ', 'm', '', 'k', 'M', 'G', 'T', 'P'];

/** Units that take prefixes, with the largest exponent in use. A prefix is nonsense for all others: °C, %, counts. */
const LARGEST_EXPONENTS: Record<string, number> = {
  ...Object.fromEntries(
    ['J', 'W', 'Wh', 'V', 'A', 'Hz', 'N', 'VA', 'var', 'VAh', 'varh', 'Ohm', 'Ω', 'B', 'B/s'].map((unit) => [
      unit,
      15,
    ]),
  ),
  ...Object.fromEntries(['bit', 'bit/s', 'H', 'S', 'Bq', 'Sv', 'Gy', 'mol', 'eV'].map((unit) => [unit, 15])),
  Pa: 9,
  m: 3,
  g: 3,
  L: 6,
  l: 6,
  s: 0,
};

/** Values from here to below `MANY` keep the unit that was sent. */
const FEW = 1e-3;
const MANY = 10_000;
/** Longer durations, in ms, are written as such. */
const LONG_MS = 3_600_000;
/** From this length on, in ms, a chart counts days instead of hours. */
const DAYS_FROM_MS = 2 * 86_400_000;

const nameOf = (unit: string | null): string =>
  unit !== null && Object.hasOwn(ALIASES, unit) ? (ALIASES[unit] ?? '') : (unit ?? '');

/**
 * @param unit as sent
 * @returns null: nobody chooses its unit
 */
export function quantityOf(unit: string | null): Quantity | null {
  const name = nameOf(unit);
  const { prefixed, exponent } = splitUnit(name);
  const names = [name, ...(exponent === 0 ? [] : [prefixed])];
  const found = Object.entries(QUANTITIES).find(([quantity, units]) =>
    names.some((known) => Object.hasOwn(units, known) || (quantity === 'energy' && known === 'Wh')),
  );
  return (found?.[0] ?? null) as Quantity | null;
}

/** @returns the units that a reader may choose */
export const unitsOf = (quantity: Quantity): string[] => Object.keys(QUANTITIES[quantity]);

/**
 * The unit without its prefix, if it is one that takes prefixes.
 *
 * @returns `prefixed`: empty if it takes none
 */
function splitUnit(unit: string): { prefixed: string; exponent: number } {
  if (Object.hasOwn(LARGEST_EXPONENTS, unit)) return { prefixed: unit, exponent: 0 };
  const [first = '', rest] = [unit.slice(0, 1), unit.slice(1)];
  const exponent = PREFIXES[first];
  if (exponent !== undefined && Object.hasOwn(LARGEST_EXPONENTS, rest)) return { prefixed: rest, exponent };
  return { prefixed: '', exponent: 0 };
}

/**
 * @param unit as sent
 * @returns null: as sent
 */
function chosenScale(unit: string | null, choices: UnitChoices): Scale | null {
  const quantity = quantityOf(unit);
  const chosen = quantity && choices[quantity];
  const to = quantity && chosen ? QUANTITIES[quantity][chosen] : undefined;
  if (!quantity || !chosen || !to) return null;
  const name = nameOf(unit);
  const { prefixed, exponent } = splitUnit(name);
  const known = QUANTITIES[quantity][name];
  const [base, shift] = known ?? QUANTITIES[quantity][prefixed] ?? [3600, 0];
  const factor = known ? base : base * 10 ** exponent;
  return { unit: chosen, factor: factor / to[0], offset: (shift - to[1]) / to[0], timeMs: null };
}

/**
 * The scale in which a reader types and reads single limits: the chosen unit, without a prefix that depends on the values.
 *
 * @param unit as sent
 */
export const limitScale = (unit: string | null, choices: UnitChoices): Scale =>
  chosenScale(unit, choices) ?? plainScale(unit);

/**
 * The scale that suits some values: in the chosen unit, else with the prefix that leaves few digits. The largest value decides.
 *
 * @param unit as sent
 * @param values as sent
 */
export function scaleFor(unit: string | null, values: Iterable<number>, choices: UnitChoices = {}): Scale {
  const chosen = chosenScale(unit, choices);
  if (chosen) return chosen;
  let largest = 0;
  for (const value of values) if (Math.abs(value) > largest) largest = Math.abs(value);
  if (unit === 's' || unit === 'ms') {
    const ms = unit === 's' ? 1000 : 1;
    if (largest * ms >= LONG_MS && Number.isFinite(largest)) return durationScale(largest * ms, ms);
  }
  const { prefixed, exponent } = splitUnit(unit ?? '');
  if (!prefixed || largest === 0 || !Number.isFinite(largest) || (largest >= FEW && largest < MANY)) {
    return plainScale(unit);
  }
  const most = LARGEST_EXPONENTS[prefixed] ?? 0;
  const wanted = 3 * Math.floor((Math.log10(largest) + 1e-9 + exponent) / 3);
  const next = Math.min(Math.max(wanted, -12), most);
  if (next === exponent) return plainScale(unit);
  const prefix = WRITTEN[next / 3 + 4] ?? '';
  return {
    unit: `${prefix}${formatUnit(prefixed)}`,
    factor: 10 ** (exponent - next),
    offset: 0,
    timeMs: null,
  };
}

/**
 * @param longest ms
 * @param ms of the unit as sent
 */
function durationScale(longest: number, ms: number): Scale {
  const [unit, size] = longest >= DAYS_FROM_MS ? ['d', 86_400_000] : ['h', 3_600_000];
  return { unit, factor: ms / size, offset: 0, timeMs: ms };
}

/** @returns whether values are written as sent */
export const isAsSent = ({ factor, offset }: Scale): boolean => factor === 1 && offset === 0;

const EXACT = 1e-12;

/**
 * @param value as sent
 * @returns as shown
 */
export function toShown({ factor, offset }: Scale, value: number): number {
  // Dividing by a whole number is exact where multiplying by its inverse is not.
  const divisor = Math.round(1 / factor);
  const isDivided = factor < 1 && Math.abs(divisor * factor - 1) < EXACT;
  return (isDivided ? value / divisor : value * factor) + offset;
}

/**
 * @param text as people write numbers, `-4,5` too
 * @returns null: none
 */
export function readNumber(text: string | null): number | null {
  const plain = (text ?? '')
    .trim()
    .replace('\u2212', '-')
    .replace(/^([^.,]*),([^.,]*)$/, '$1.$2');
  const number = plain === '' ? Number.NaN : Number(plain);
  return Number.isFinite(number) ? number : null;
}

/** The scale of differences, such as a change per second, which have no offset. */
export const differenceScale = (scale: Scale): Scale => ({ ...scale, offset: 0 });

/** Digits of a limit in two units. Stored ones have more, so that they give the shown ones again. */
const DIGITS = { sent: 14, shown: 12 };

/**
 * Removes the noise of a conversion.
 *
 * @param size of the largest number in it: 0 °F as 32 − 32 has the noise of 32
 * @param digits of a number of that size
 */
function withoutNoise(value: number, size: number, digits: number): number {
  const decimals = digits - 1 - Math.floor(Math.log10(size));
  if (!Number.isFinite(decimals) || decimals > 100) return value;
  return Number(decimals < 0 ? value.toPrecision(digits) : value.toFixed(decimals)) + 0;
}

/** @returns as sent */
export function toSent(scale: Scale, shown: number): number {
  if (isAsSent(scale)) return shown;
  const { factor, offset } = scale;
  const size = Math.max(Math.abs(shown), Math.abs(offset)) / factor;
  return withoutNoise((shown - offset) / factor, size, DIGITS.sent);
}

/**
 * @param sent a limit
 * @returns as a reader types it, without its unit
 */
export function limitText(scale: Scale, sent: number): string {
  if (isAsSent(scale)) return String(sent);
  const size = Math.max(Math.abs(sent * scale.factor), Math.abs(scale.offset));
  return String(withoutNoise(toShown(scale, sent), size, DIGITS.shown));
}

/**
 * A limit that a reader typed.
 *
 * @param known a limit as sent: its own text gives exactly this one
 * @returns as sent; NaN: the text is empty, or no number
 */
export function limitOf(scale: Scale, text: string, known?: number): number {
  const trimmed = text.trim();
  if (known !== undefined && limitText(scale, known) === trimmed) return known;
  const shown = readNumber(trimmed);
  return shown === null ? Number.NaN : toSent(scale, shown);
}

/**
 * A value alone, with its unit in one text.
 *
 * @param shown in the scale
 */
export function shownText(scale: Scale, shown: number | null): string {
  if (shown === null || !Number.isFinite(shown)) return NOTHING;
  return scale.timeMs === null
    ? `${formatNumber(shown)} ${scale.unit}`.trim()
    : durationText((shown / scale.factor) * scale.timeMs);
}

const durationText = (ms: number): string => `${ms < 0 ? '−' : ''}${formatDuration(Math.abs(ms))}`;

/**
 * A value alone, with its unit.
 *
 * @param value as sent
 * @param unit as sent
 * @param how `recent`: values before it, which fix prefix and decimals;
 * `decimals`: at least, where others of its kind stand in the same column
 */
export function writeValue(
  value: number | null,
  unit: string | null,
  {
    choices = {},
    recent = [],
    decimals: least = 0,
  }: { choices?: UnitChoices; recent?: number[]; decimals?: number } = {},
): { number: string; unit: string } {
  if (value === null || !Number.isFinite(value)) {
    return { number: NOTHING, unit: scaleFor(unit, recent, choices).unit };
  }
  const scale = scaleFor(unit, [...recent, value], choices);
  if (scale.timeMs !== null) {
    return { number: durationText(value * scale.timeMs), unit: '' };
  }
  const shown = toShown(scale, value);
  if (recent.length === 0) {
    return { number: formatNumber(shown), unit: scale.unit };
  }
  const decimals = decimalsFor(recent.map((one) => toShown(scale, one)));
  return {
    number: formatNumber(shown, isAsSent(scale) ? Math.max(least, decimals) : decimals),
    unit: scale.unit,
  };
}

/** The value of a sensor alone, with its unit in one text. A state is a word. */
export function sensorValueText(sensor: Labels & { value: number | null }, choices: UnitChoices): string {
  const state = stateText(sensor, sensor.value);
  if (state !== null) return state;
  const { number, unit } = writeValue(sensor.value, sensor.unit, { choices });
  return `${number} ${unit}`.trim();
}
