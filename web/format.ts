export const NOTHING = '–';

const MOST_DECIMALS = 12;
/** Significant decimal digits of a double. Further digits are rounding noise. */
const DIGITS = 15;
const NUMBERS = Array.from(
  { length: MOST_DECIMALS + 1 },
  (_, decimals) =>
    new Intl.NumberFormat('en', { minimumFractionDigits: decimals, maximumFractionDigits: decimals }),
);

/** @returns number of decimals to show: about four significant digits, without trailing zeros */
export function decimalsOf(value: number, limit: number = usualDecimals(Math.abs(value))): number {
  return String(Number(value.toFixed(limit))).split('.')[1]?.length ?? 0;
}

export function usualDecimals(size: number): number {
  if (size >= 10_000) return 0;
  if (size >= 1000) return 1;
  if (size >= 10) return 2;
  return size >= 1 ? 3 : 4;
}

/** Keeps the width of a changing value. For close values, the decimals resolve a hundredth of their spread. */
export function decimalsFor(values: number[]): number {
  const spread = values.length > 1 ? Math.max(...values) - Math.min(...values) : 0;
  const needed = spread > 0 ? Math.ceil(2 - Math.log10(spread)) : 0;
  let decimals = 0;
  for (const value of values) {
    const size = Math.abs(value);
    const held = DIGITS - Math.max(Math.ceil(Math.log10(size || 1)), 1);
    const limit = Math.max(Math.min(needed, held, MOST_DECIMALS), usualDecimals(size));
    decimals = Math.max(decimals, decimalsOf(value, limit));
  }
  return decimals;
}

export function formatNumber(value: number | null | undefined, decimals?: number): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return NOTHING;
  const size = Math.abs(value);
  // Close values need all their digits. For example, a large counter has many constant digits, and a few digits that change.
  const text =
    size >= (decimals === undefined ? 1e12 : 1e15) || (size > 0 && size < 1e-4 && !(decimals && decimals > 4))
      ? value.toExponential(2)
      : (NUMBERS[Math.min(decimals ?? decimalsOf(value), MOST_DECIMALS)]?.format(value) ?? NOTHING);
  return text.replace(ROUNDED_TO_ZERO, '').replaceAll('-', '−');
}

/** The minus sign of a text with only zeros: −0.001 with two decimals is written as 0.00. */
const ROUNDED_TO_ZERO = /^-(?=[0.]+$)/;

/** @returns a difference with its sign; no sign if it rounds to zero */
export function formatChange(change: number, decimals: number): string {
  const text = formatNumber(change, decimals);
  return change > 0 && /[1-9]/.test(text) ? `+${text}` : text;
}

/** Formats the ticks of an axis with the number of decimals that distinguishes the ticks. */
export function formatTicks(ticks: number[]): string[] {
  const largest = Math.max(...ticks.map(Math.abs), 0);
  const step = Math.abs((ticks[1] ?? 0) - (ticks[0] ?? 0));
  if (largest < 1e15 && (step === 0 || step >= 1e-11)) {
    const decimals = decimalsFor(ticks);
    return ticks.map((value) => formatNumber(Math.abs(value) < step / 1e6 ? 0 : value, decimals));
  }
  const places = step > 0 ? Math.min(Math.max(Math.ceil(Math.log10(largest / step)), 0), DIGITS) : 2;
  return ticks.map((value) => value.toExponential(places).replaceAll('-', '−'));
}

export const formatCount = (value: number | null | undefined): string => formatNumber(value, 0);

/** @param one noun in the singular, and `many` in the plural @returns `1 sensor`, `12 sensors`, `2 processes` */
export const formatCounted = (count: number, one: string, many: string = `${one}s`): string =>
  `${formatCount(count)} ${count === 1 ? one : many}`;

/** Display symbols of units by the code that devices send (SenML, RFC 8428, and UCUM). */
const UNITS: Record<string, string> = {
  Cel: '°C',
  '%RH': '% RH',
  '/': '',
  lat: '° N',
  lon: '° E',
  deg: '°',
  'beat/min': 'bpm',
  beats: 'beats',
  '/min': '/min',
  '1/min': '/min',
  'm/s2': 'm/s²',
  m2: 'm²',
  m3: 'm³',
};

export const formatUnit = (unit: string | null | undefined): string =>
  unit && Object.hasOwn(UNITS, unit) ? (UNITS[unit] ?? '') : (unit ?? '');

/** Hue numbers of common sensor types; see --hue-1 … in kit/base.css. */
const TYPE_HUES: Record<string, number> = { temperature: 1, pulse: 2, location: 3, respiration: 4 };

/** @returns number of the hue: 0 without a type, otherwise 1 to 8; a type always has the same hue */
export function hueOf(type: string | null): number {
  if (!type) return 0;
  const known = TYPE_HUES[type.toLowerCase()];
  if (known) return known;
  let hash = 0;
  for (const character of type) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) >>> 0;
  return 5 + (hash % 4);
}

/** The zone of the user's machine, UTC, or a name in the IANA time zone database. */
export type ZoneName = 'local' | 'utc' | `${string}/${string}`;

export interface Zone {
  name: ZoneName;
  /** @returns offset of the zone from UTC in ms, positive in the east */
  offsetAt: (ts: number) => number;
}

const QUARTER_MS = 900_000;
/** Maximum number of cached offsets of a zone. At the limit, the cache is emptied. */
const MOST_OFFSETS = 20_000;

/** Creates a zone, which caches offsets per quarter-hour: `Intl` takes 10 µs for each offset, and a chart has thousands of times. */
export function createZone(name: ZoneName): Zone {
  if (name === 'utc') return { name, offsetAt: () => 0 };
  if (name === 'local') return { name, offsetAt: (ts) => -new Date(ts).getTimezoneOffset() * 60_000 };
  const format = new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' });
  const known: Map<number, number> = new Map();

  function readOffset(ts: number): number {
    const part = format.formatToParts(ts).find(({ type }) => type === 'timeZoneName');
    const [, sign = '+', hours = 0, minutes = 0, seconds = 0] =
      /^GMT([+-])(\d+):(\d+)(?::(\d+))?$/.exec(part?.value ?? '') ?? [];
    return (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * (sign === '-' ? -1000 : 1000);
  }

  return {
    name,
    offsetAt(ts) {
      const quarter = Math.floor(ts / QUARTER_MS);
      const kept = known.get(quarter);
      if (kept !== undefined) return kept;
      const offset = readOffset(quarter * QUARTER_MS);
      if (known.size >= MOST_OFFSETS) known.clear();
      known.set(quarter, offset);
      return offset;
    },
  };
}

export const UTC = createZone('utc');
export const LOCAL = createZone('local');

/** @param wallMs local time of the zone, in ms as if it were UTC @returns for a time that a clock change skips, a time after the gap */
export function momentOf(wallMs: number, zone: Zone): number {
  const near = wallMs - zone.offsetAt(wallMs);
  const at = wallMs - zone.offsetAt(near);
  return at + zone.offsetAt(at) < wallMs ? near : at;
}

export function isNamedZone(text: unknown): text is ZoneName {
  if (typeof text !== 'string' || !text.includes('/')) return false;
  try {
    return Boolean(new Intl.DateTimeFormat('en', { timeZone: text }));
  } catch {
    return false;
  }
}

/** @returns `14:03` */
export const formatClock = (ts: number, zone: Zone): string => fields(ts, zone).slice(11, 16);

/** @returns `14:03:21` */
export const formatTime = (ts: number, zone: Zone): string => fields(ts, zone).slice(11, 19);

/** @returns `14:03:21.250` */
export const formatTimeMs = (ts: number, zone: Zone): string => fields(ts, zone).slice(11, 23);

/** @returns `2026-11-21` */
export const formatDate = (ts: number, zone: Zone): string => fields(ts, zone).slice(0, 10);

/** @returns `2026-11-21 14:03` */
export const formatDateClock = (ts: number, zone: Zone): string =>
  `${formatDate(ts, zone)} ${formatClock(ts, zone)}`;

/** @returns `2026-11-21 14:03:21` */
export const formatDateTime = (ts: number, zone: Zone): string =>
  fields(ts, zone).slice(0, 19).replace('T', ' ');

/** @returns `2026-11-21T14:03:21`, the value of a `datetime-local` field */
export const formatField = (ts: number, zone: Zone): string => fields(ts, zone).slice(0, 19);

/** @param text value of a `datetime-local` field @returns time in epoch ms; null: the text is incomplete */
export function parseField(text: string, zone: Zone): number | null {
  // JavaScript reads a date with a time and no zone as local time.
  const isLocal = zone.name === 'local';
  const ms = Date.parse(isLocal ? text : `${text}Z`);
  if (!text.includes('T') || !Number.isFinite(ms)) return null;
  return isLocal ? ms : momentOf(ms, zone);
}

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** @returns `21 Nov` */
export const formatDay = (ts: number, zone: Zone): string =>
  `${Number(fields(ts, zone).slice(8, 10))} ${formatMonth(ts, zone)}`;

/** @returns `Nov` */
export const formatMonth = (ts: number, zone: Zone): string =>
  MONTHS[Number(fields(ts, zone).slice(5, 7)) - 1] ?? NOTHING;

/** @returns `2026` */
export const formatYear = (ts: number, zone: Zone): string => fields(ts, zone).slice(0, 4);

/** @returns `UTC`, `UTC+1`, `UTC−3:30` */
export function formatZone(zone: Zone, ts: number): string {
  const minutes = Math.round(zone.offsetAt(ts) / 60_000);
  if (minutes === 0) return 'UTC';
  const size = Math.abs(minutes);
  const rest = size % 60 === 0 ? '' : `:${String(size % 60).padStart(2, '0')}`;
  return `UTC${minutes < 0 ? '−' : '+'}${Math.floor(size / 60)}${rest}`;
}

/** @returns the UTC offset of a table row, if it differs from that of `head`, the time whose offset the column head names */
export const otherZone = (zone: Zone, ts: number, head: number): string | null =>
  zone.offsetAt(ts) === zone.offsetAt(head) ? null : formatZone(zone, ts);

/** @returns whether local time differs from UTC at any time of the year */
export const hasOwnZone = (year: number): boolean =>
  [0, 6].some((month) => new Date(year, month, 1).getTimezoneOffset() !== 0);

/** @returns the local time of the zone as ISO 8601 without an offset */
function fields(ts: number, zone: Zone): string {
  return new Date(ts + zone.offsetAt(ts)).toISOString();
}

/** @returns `now`, `12 s`, `4 min`, `3 h`, `5 d` */
export function formatAge(ms: number): string {
  if (ms < -1500) return `in ${formatSpan(-ms)}`;
  return ms < 1000 ? 'now' : formatSpan(ms);
}

/** @returns the time span in its largest whole unit */
export function formatSpan(ms: number): string {
  const seconds = Math.floor(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86_400)} d`;
}

const DURATIONS: [ms: number, unit: string][] = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1000, 's'],
];

/** @returns the duration in its largest unit and the next smaller unit: `48 s`, `3 min 20 s`, `2 d 4 h` */
export function formatDuration(ms: number): string {
  const at = DURATIONS.findIndex(([size]) => ms >= size);
  const [size, unit] = DURATIONS[at] ?? [1, 'ms'];
  const [lesser, lesserUnit] = DURATIONS[at === -1 ? -1 : at + 1] ?? [size, unit];
  const whole = `${Math.floor(ms / size)} ${unit}`;
  const rest = Math.floor((ms % size) / lesser);
  return rest > 0 ? `${whole} ${rest} ${lesserUnit}` : whole;
}

/** @param offsetMs clock of a device minus clock of the server in ms, not 0 @returns `clock 3 d behind` */
export const clockWords = (offsetMs: number): string =>
  `clock ${formatDuration(Math.abs(offsetMs))} ${offsetMs < 0 ? 'behind' : 'ahead'}`;

/** @returns the exact width of a bin: `1 s`, `15 min`, `6 h`, `30 d` */
export function formatStep(ms: number): string {
  if (ms % 86_400_000 === 0) return `${formatNumber(ms / 86_400_000)} d`;
  if (ms % 3_600_000 === 0) return `${formatNumber(ms / 3_600_000)} h`;
  if (ms % 60_000 === 0) return `${formatNumber(ms / 60_000)} min`;
  return ms % 1000 === 0 || ms > 1000 ? `${formatNumber(ms / 1000)} s` : `${formatNumber(ms)} ms`;
}
