import { parseTime } from '../../../common/times.ts';
import { DAY_MS } from '../../../schema/rules.ts';

export type TimeFormat = 'iso' | 'day-first' | 'month-first' | 'excel' | 's' | 'ms' | 'us' | 'ns';

/** `local`: the text names no zone, and `ms` is read as if it were UTC. */
type ParsedTime = { ms: number; local: boolean };

const UNITS: Partial<Record<TimeFormat, number>> = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 };

const NUMBER = /^[+-]?\d+(?:[.,]\d+)?$/;

/** Day 25,569 of Excel is 1970-01-01. Excel stores days as doubles, so a second is rounded by up to some microseconds. */
const EXCEL_EPOCH_DAYS = 25_569;

const ISO_ZONE = /(?:Z|[+-]\d\d(?::?\d\d)?)$/i;

const CLOCK = String.raw`(?:(?:[T,]?\s+|[T,])(?<hour>\d{1,2})(?::|h|\.)(?<minute>\d\d)(?:(?::|\.)(?<second>\d\d)(?:[.,](?<fraction>\d{1,9}))?)?)?`;
const REST = String.raw`\s*(?<half>[ap]\.?\s?m\.?)?\s*(?<zone>Z|UTC|GMT|(?:UTC|GMT)?[+-]\d\d:?\d\d)?$`;
const WEEKDAY = String.raw`^(?:\p{L}{2,10}\.?,?\s+)?`;

/** Dates with the year first, such as 2026/11/01; with the year last; and with the name of the month first. */
const PATTERNS = [
  String.raw`^(?<year>\d{4})(?<mark>[./-])(?<first>\d{1,2})\k<mark>(?<last>\d{1,2})`,
  String.raw`${WEEKDAY}(?<first>\d{1,2})(?<mark>[./-])(?<last>\d{1,2})\k<mark>(?<year>\d{4}|\d\d)`,
  String.raw`${WEEKDAY}(?<first>\d{1,2})(?:\.?\s+|[.-])(?<month>\p{L}{3,10})(?:\.?\s+|\.?-)(?<year>\d{4}|\d\d)`,
  String.raw`${WEEKDAY}(?<month>\p{L}{3,10})\.?\s+(?<first>\d{1,2}),?\s+(?<year>\d{4})`,
].map((date) => new RegExp(date + CLOCK + REST, 'iu'));

/** In English, German and French, without accents, such that each is one month. */
// cspell:disable
const MONTHS = [
  /^jan/,
  /^(?:feb|fev)/,
  /^(?:mar|maer|mrz)/,
  /^(?:apr|avr)/,
  /^(?:may|mai)/,
  /^(?:jun|juin)/,
  /^(?:jul|juil)/,
  /^(?:aug|aou)/,
  /^sep/,
  /^(?:oct|okt)/,
  /^nov/,
  /^(?:dec|dez)/,
];
// cspell:enable

export function parseFileTime(raw: unknown, format: TimeFormat): ParsedTime | null {
  const unit = UNITS[format];
  if (typeof raw === 'number' || typeof raw === 'bigint') return ofNumber(Number(raw), format);
  if (typeof raw !== 'string') return null;
  const text = raw.trim();
  if (unit !== undefined || format === 'excel') return ofNumbers(text.split(/\s+/), format);
  if (format === 'iso') {
    // Also 2026-11-01 10:00:00,250, as Python logs it.
    const iso = text.replace(/^(\S+)\s+(?=\d)/, '$1T').replace(/\s+(?=[+-]\d|Z$)/i, '');
    const ms = parseTime(iso);
    if (ms !== null) return { ms, local: !/^-?\d+$/.test(iso) && !ISO_ZONE.test(iso.slice(10)) };
  }
  return ofCalendar(text, format);
}

/** A number, or the number of a date and that of a time of day. */
function ofNumbers(parts: string[], format: TimeFormat) {
  if (parts.length > 2 || !parts.every((part) => NUMBER.test(part))) return null;
  return ofNumber(
    parts.reduce((sum, part) => sum + Number(part.replace(',', '.')), 0),
    format,
  );
}

function ofNumber(number: number, format: TimeFormat): ParsedTime | null {
  if (!Number.isFinite(number)) return null;
  if (format === 'excel') {
    const ms = Math.round((number - EXCEL_EPOCH_DAYS) * DAY_MS);
    const second = Math.round(ms / 1000) * 1000;
    return { ms: Math.abs(ms - second) < 20 ? second : ms, local: true };
  }
  const unit = UNITS[format];
  if (unit !== undefined) return { ms: Math.floor(number * unit), local: false };
  return Number.isInteger(number) ? { ms: number, local: false } : null;
}

function ofCalendar(text: string, format: TimeFormat): ParsedTime | null {
  for (const [index, pattern] of PATTERNS.entries()) {
    const parts = pattern.exec(text)?.groups;
    if (!parts) continue;
    const date = dateOf(index, parts, format);
    const clock = date && clockOf(parts);
    return date && clock !== null ? withZone(date + Number(clock), parts['zone']) : null;
  }
  return null;
}

/** `index`: of the pattern that matched. Returns epoch ms. */
function dateOf(
  index: number,
  { year = '', first = '', last = '', month }: Record<string, string | undefined>,
  format: TimeFormat,
): number | null {
  // Only the order of a date with the year last is uncertain, so any format takes the others.
  if (index === 1 && format === 'iso') return null;
  if (index === 0) return dayOf(Number(year), Number(first), Number(last));
  if (month !== undefined) return dayOf(fullYear(year), monthOf(month), Number(first));
  const isDayFirst = format === 'day-first';
  return dayOf(fullYear(year), Number(isDayFirst ? last : first), Number(isDayFirst ? first : last));
}

/** Two digits mean 1970 to 2069. */
const fullYear = (year: string) =>
  year.length === 4 ? Number(year) : Number(year) + (Number(year) < 70 ? 2000 : 1900);

/** 1 to 12; 0: no month. */
function monthOf(name: string): number {
  const plain = name.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  return MONTHS.findIndex((pattern) => pattern.test(plain)) + 1;
}

/** Null: no such day. */
function dayOf(year: number, month: number, day: number): number | null {
  const ms = Date.UTC(year, month - 1, day);
  const date = new Date(ms);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? ms : null;
}

function clockOf({
  hour,
  minute = '0',
  second = '0',
  fraction = '0',
  half,
}: Record<string, string | undefined>): number | null {
  if (hour === undefined) return half === undefined ? 0 : null;
  let hours = Number(hour);
  if (half !== undefined) {
    if (hours < 1 || hours > 12) return null;
    hours = (hours % 12) + (half.toLowerCase().startsWith('p') ? 12 : 0);
  }
  if (hours > 24 || Number(minute) > 59 || Number(second) > 59) return null;
  if (hours === 24 && Number(minute) + Number(second) > 0) return null;
  return (
    ((hours * 60 + Number(minute)) * 60 + Number(second)) * 1000 + Math.floor(Number(`0.${fraction}`) * 1000)
  );
}

function withZone(ms: number, zone: string | undefined): ParsedTime {
  if (zone === undefined) return { ms, local: true };
  const match = /([+-])(\d\d):?(\d\d)$/.exec(zone);
  if (!match) return { ms, local: false };
  const size = (Number(match[2]) * 60 + Number(match[3])) * 60_000;
  return { ms: match[1] === '-' ? ms + size : ms - size, local: false };
}

/** The rule and a remedy, for a cell that is not a time in the format. */
export function timeRule(raw: unknown, format: TimeFormat): string {
  const text = typeof raw === 'string' ? raw.trim() : raw;
  const others = (['day-first', 'month-first', 'iso', 'excel'] as TimeFormat[]).filter(
    (other) => other !== format && isPlausible(text, other),
  );
  const rule = RULES[format];
  if (others.length === 0) return unitHint(raw) === '' ? rule : `${rule}.${unitHint(raw)}`;
  return `${rule}; add \`time_format=${others.join('` or `time_format=')}\``;
}

const RULES: Record<TimeFormat, string> = {
  iso: 'must be whole epoch milliseconds or ISO 8601',
  'day-first': 'must be a date with the day first, such as 31.12.2026 23:59',
  'month-first': 'must be a date with the month first, such as 12/31/2026 11:59 PM',
  excel: 'must be a day number of Excel, such as 46327.5',
  s: 'must be a number of seconds since 1970',
  ms: 'must be a number of milliseconds since 1970',
  us: 'must be a number of microseconds since 1970',
  ns: 'must be a number of nanoseconds since 1970',
};

/** A proposal takes only these years for times of measurements. */
const PLAUSIBLE = { from: Date.UTC(1990, 0), to: Date.UTC(2100, 0) };

export function isPlausible(raw: unknown, format: TimeFormat): boolean {
  const time = parseFileTime(raw, format);
  return time !== null && time.ms >= PLAUSIBLE.from && time.ms < PLAUSIBLE.to;
}

/** A remedy if the number is a time in another unit; else empty. */
export function unitHint(raw: unknown): string {
  const isNumber = typeof raw === 'string' ? NUMBER.test(raw.trim()) : typeof raw !== 'object';
  if (!isNumber || isPlausible(raw, 'ms')) return '';
  const unit = (['s', 'us', 'ns'] as TimeFormat[]).find((each) => isPlausible(raw, each));
  return unit ? ` Add \`time_format=${unit}\`` : '';
}
