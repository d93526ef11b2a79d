import { badQuery } from './bad-query.ts';

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000, y: 31_536_000_000 };

/** The units must come in this order, as in Prometheus. */
const DURATION =
  /^(?=\d)(?:\d{1,9}y)?(?:\d{1,9}w)?(?:\d{1,9}d)?(?:\d{1,9}h)?(?:\d{1,9}m(?!s))?(?:\d{1,9}s)?(?:\d{1,15}ms)?$/;

const SECONDS = /^\d{1,12}(?:\.\d{1,12})?$/;

/** Such as `1h30m`, or a number of seconds. Returns ms, at least 1. @throws `bad_parameter` */
export function durationOf(text: string): number {
  const parts = DURATION.test(text) ? [...text.matchAll(/(\d+)(ms|[smhdwy])/g)] : null;
  const ms = parts
    ? parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNIT_MS[unit as 's'], 0)
    : Math.round((SECONDS.test(text) ? Number(text) : 0) * 1000);
  if (ms >= 1 && ms <= Number.MAX_SAFE_INTEGER) return ms;
  throw badQuery(
    `${text.slice(0, 60)} is not a duration of at least 1 ms, such as 5m, 1h30m or 15 (seconds)`,
  );
}
