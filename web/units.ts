import { decimalsFor, formatDuration, formatNumber, formatUnit, NOTHING } from './format.ts';
import type { Labels } from './states.ts';
import { stateText } from './states.ts';

/** The conversion of sent values to shown values: `shown = value * factor + offset`. */
export interface Scale {
  unit: string;
  factor: number;
  offset: number;
  /** length of the sent unit in ms, if single values are shown as durations in their largest units; null: values are shown as numbers */
  timeMs: number | null;
}

export type Quantity = 'temperature' | 'pressure' | 'speed' | 'energy';

export type UnitChoices = Partial<Record<Quantity, string>>;

export const plainScale = (unit: string | null): Scale => ({
  unit: formatUnit(unit),
  factor: 1,
  offset: 0,
  timeMs: null,
});

/** Conversion of each unit to the base unit of its quantity: `base = value * factor + offset`. */
const QUANTITIES: Record<Quantity, Record<string, [factor: number, offset: number]>> = {
  temperature: { '°C': [1, 273.15], '°F': [5 / 9, 459.67 * (5 / 9)], K: [1, 0] },
  pressure: { Pa: [1, 0], hPa: [100, 0], kPa: [1000, 0], bar: [100_000, 0], psi: [6894.757, 0] },
  speed: { 'm/s': [1, 0], 'km/h': [1 / 3.6, 0], mph: [0.44704, 0], kn: [1852 / 3600, 0] },
  energy: { J: [1, 0], kWh: [3_600_000, 0] },
};

/** Other codes for the units above that devices send. */
const ALIASES: Record<string, string> = {
  Cel: '°C',
  C: '°C',
  degC: '°C',
  '[degF]': '°F',
  degF: '°F',
  mbar: 'hPa',
  kph: 'km/h',
};

const WRITTEN = ['p', 'n', 'µ', 'm', '', 'k', 'M', 'G', 'T', 'P'];
const PREFIXES: Record<string, number> = {
  u: -6,
  ...Object.fromEntries(WRITTEN.map((prefix, index) => [prefix, 3 * (index - 4)])),
};

/** The units that take SI prefixes, with their largest exponent in use. Other units (°C, %, counts) take no prefix. */
const LARGEST_EXPONENTS: Record<string, number> = {
  ...Object.fromEntries(
    'J W Wh V A Hz N VA var VAh varh Ohm Ω B B/s bit bit/s H S Bq Sv Gy mol eV'
      .split(' ')
      .map((unit) => [unit, 15]),
  ),
  ...{ Pa: 9, m: 3, g: 3, L: 6, l: 6, s: 0 },
};

/** Values from `LEAST_UNSCALED` to below `MOST_UNSCALED` keep the unit as the sensor sends it. */
const LEAST_UNSCALED = 1e-3;
const MOST_UNSCALED = 10_000;
/** Duration in ms from which values are shown in their largest units, such as hours and minutes. */
const LONG_MS = 3_600_000;
/** Minimum duration in ms from which a chart uses days instead of hours. */
const DAYS_FROM_MS = 2 * 86_400_000;

const nameOf = (unit: string | null): string =>
  unit !== null && Object.hasOwn(ALIASES, unit) ? (ALIASES[unit] ?? '') : (unit ?? '');

/** @returns null: the unit belongs to no quantity whose unit the user can choose */
export function quantityOf(unit: string | null): Quantity | null {
  const name = nameOf(unit);
  const { prefixed, exponent } = splitUnit(name);
  const names = [name, ...(exponent === 0 ? [] : [prefixed])];
  const found = Object.entries(QUANTITIES).find(([quantity, units]) =>
    names.some((known) => Object.hasOwn(units, known) || (quantity === 'energy' && known === 'Wh')),
  );
  return (found?.[0] ?? null) as Quantity | null;
}

export const unitsOf = (quantity: Quantity): string[] => Object.keys(QUANTITIES[quantity]);

/** @returns `prefixed`: the unit without its prefix; empty if the unit takes no prefix */
function splitUnit(unit: string): { prefixed: string; exponent: number } {
  if (Object.hasOwn(LARGEST_EXPONENTS, unit)) return { prefixed: unit, exponent: 0 };
  const [first = '', rest] = [unit.slice(0, 1), unit.slice(1)];
  const exponent = PREFIXES[first];
  if (exponent !== undefined && Object.hasOwn(LARGEST_EXPONENTS, rest)) return { prefixed: rest, exponent };
  return { prefixed: '', exponent: 0 };
}

/** Returns the scale for the unit that the user chose. @returns null: the user chose no unit */
export function chosenScale(unit: string | null, choices: UnitChoices): Scale | null {
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

/** The chosen unit, otherwise the prefix that gives the largest value the fewest digits. */
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
  if (
    !prefixed ||
    largest === 0 ||
    !Number.isFinite(largest) ||
    (largest >= LEAST_UNSCALED && largest < MOST_UNSCALED)
  ) {
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

/** @param longest longest duration in ms @param ms length of the sent unit in ms */
function durationScale(longest: number, ms: number): Scale {
  const [unit, size] = longest >= DAYS_FROM_MS ? ['d', 86_400_000] : ['h', 3_600_000];
  return { unit, factor: ms / size, offset: 0, timeMs: ms };
}

export const isAsSent = ({ factor, offset }: Scale): boolean => factor === 1 && offset === 0;

const EXACT = 1e-12;

export function toShown({ factor, offset }: Scale, value: number): number {
  // A division by a whole number is more exact than a multiplication by its inverse.
  const divisor = Math.round(1 / factor);
  const isDivided = factor < 1 && Math.abs(divisor * factor - 1) < EXACT;
  return (isDivided ? value / divisor : value * factor) + offset;
}

/** Writes a single value with its unit as one text. @param shown value in the unit of the scale */
export function shownText(scale: Scale, shown: number | null): string {
  if (shown === null || !Number.isFinite(shown)) return NOTHING;
  return scale.timeMs === null
    ? `${formatNumber(shown)} ${scale.unit}`.trim()
    : durationText((shown / scale.factor) * scale.timeMs);
}

const durationText = (ms: number): string => `${ms < 0 ? '−' : ''}${formatDuration(Math.abs(ms))}`;

/** @param how `recent`: earlier values, which determine prefix and decimals; `decimals`: minimum number, for aligned values of a column */
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

/** Writes the value of a sensor with its unit as one text. A state is shown by its name. */
export function sensorValueText(sensor: Labels & { value: number | null }, choices: UnitChoices): string {
  const state = stateText(sensor, sensor.value);
  if (state !== null) return state;
  const { number, unit } = writeValue(sensor.value, sensor.unit, { choices });
  return `${number} ${unit}`.trim();
}
