import { parseTime } from '../../../common/times.ts';
import { instantNear } from '../../../common/zones.ts';

/** ms in each unit */
const TIME_UNITS = { s: 1000, ms: 1, us: 1e-3, ns: 1e-6 };

export type TimeUnit = keyof typeof TIME_UNITS;

const HAS_ZONE = /(?:Z|[+-]\d\d:?(?:\d\d)?)$/i;
const HAS_CLOCK = /T\d\d/;

const NUMBER = /^-?\d+(?:\.\d+)?$/;

/** With this `zone`, a text without a zone is ignored as a time. */
export const REQUIRED = 'required';

/**
 * Reads a number in a unit, such a number as a text, or ISO 8601. Blanks may stand before the time of day and before
 * the zone. A local time that comes twice, or that clocks skip, is the instant nearest to the receipt.
 * @returns epoch ms; undefined: there is no time, so the time of receipt counts; null: the time cannot be read
 */
export function readTime(
  value: unknown,
  { unit, zone }: { unit: TimeUnit; zone: string },
  receivedAt: number,
): number | null | undefined {
  if (value === undefined || value === null || value === '') return undefined;
  if (typeof value === 'number') return Math.round(value * TIME_UNITS[unit]);
  if (typeof value !== 'string') return null;
  if (NUMBER.test(value)) return Math.round(Number(value) * TIME_UNITS[unit]);
  const text = value.replace(' ', 'T').replace(' ', '');
  const isLocal = !HAS_CLOCK.test(text) || !HAS_ZONE.test(text.slice(10));
  if (isLocal && zone === REQUIRED) return undefined;
  const time = parseTime(text);
  if (time === null || !isLocal || zone === 'UTC') return time;
  return instantNear(time, zone, receivedAt);
}
