import { MillraceError } from '../../common/errors.js';
import { DAY_MS } from '../../schema/rules.js';

/**
 * The range of a request, cut to what may be shown: nothing before retention, to the millisecond, and nothing that a clock
 * far ahead has measured.
 *
 * @param {{ from?: number | undefined, to?: number | undefined }} given epoch ms
 * @param {Pick<import('./api.js').RouteParts, 'clock' | 'historyDays' | 'maxClockSkewMs'>} parts
 * @returns {{ from: number, to: number }} epoch ms, half-open; empty where `from` is not before `to`
 * @throws {MillraceError} `bad_range`
 */
export function cutRange({ from, to }, { clock, historyDays, maxClockSkewMs }) {
  if (from !== undefined && to !== undefined && from > to) {
    throw new MillraceError('bad_range', 'from is after to; a range is half-open, [from, to).');
  }
  const now = clock();
  return {
    from: Math.max(from ?? 0, now - historyDays * DAY_MS),
    to: Math.min(to ?? Number.POSITIVE_INFINITY, now + maxClockSkewMs),
  };
}
