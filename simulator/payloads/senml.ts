import { numberText } from '../numbers.ts';
import type { Series } from './index.ts';

/**
 * RFC 8428: one pack for all sensors. The first record of each sensor has the sensor name as base name. The first record of the pack has
 * the base time. All other records are only `{"t":…,"v":…}`.
 *
 * SenML times are in seconds, and Millrace times are whole milliseconds. `bt + t` times 1000, rounded, gives exactly the original
 * millisecond. The error of the two divisions and the sum stays below a microsecond until the year 2100 and beyond.
 */
export function encodeSenml(series: Series[]): string {
  const base = series.find(({ samples }) => samples.length > 0)?.samples[0]?.ts ?? 0;
  // A base unit applies to all later records and cannot be removed. So it is used only if every sensor has a unit.
  const unitKey = series.every(({ unit }) => unit) ? 'bu' : 'u';
  const records: string[] = [];
  for (const { name, unit, samples } of series) {
    for (const [index, { ts, value }] of samples.entries()) {
      let record = index === 0 ? `"bn":${JSON.stringify(name)},` : '';
      if (unit && (index === 0 || unitKey === 'u')) record += `"${unitKey}":${JSON.stringify(unit)},`;
      if (records.length === 0) record += `"bt":${base / 1000},`;
      if (ts !== base) record += `"t":${(ts - base) / 1000},`;
      records.push(`{${record}"v":${numberText(value)}}`);
    }
  }
  return `[${records.join(',')}]`;
}

/** A SenML time below this limit (July 1978) means "relative to now" (RFC 8428, section 4.5.3). */
export const EARLIEST_SENML_MS = 2 ** 28 * 1000;

/** As a resolved name (RFC 8428, section 4.5.1). */
export const isSenmlName = (name: string): boolean => /^[A-Za-z0-9][-A-Za-z0-9:._/]*$/.test(name);
