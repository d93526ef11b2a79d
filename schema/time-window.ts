/** Per TTL. ScyllaDB rejects tables with more. Repairs and reads are best with 20 to 30 windows. */
export const TWCS_MAX_WINDOWS = 50;

/** 20 years, the longest TTL that the servers accept. It is also the maximum of HISTORY_DAYS. */
export const MAX_TTL_SECONDS = 630_720_000;

/** A thirtieth of the retention, in whole days. @throws {RangeError} when no window satisfies the rules of the servers */
export function windowFor(retentionDays: number): { ttlSeconds: number; windowDays: number } {
  if (!Number.isInteger(retentionDays) || retentionDays < 1) {
    throw new RangeError(`a retention is a whole number of days, 1 or more, not ${retentionDays}`);
  }
  const rule = { ttlSeconds: retentionDays * 86_400, windowDays: Math.ceil(retentionDays / 30) };
  checkWindow(rule);
  return rule;
}

/** @throws {RangeError} when ScyllaDB would reject the table, or its rows would never expire */
export function checkWindow({ ttlSeconds, windowDays }: { ttlSeconds: number; windowDays: number }) {
  if (!(ttlSeconds > 0)) throw new RangeError('a time-window-compacted table needs a TTL');
  if (ttlSeconds > MAX_TTL_SECONDS) throw new RangeError(`${ttlSeconds} s of TTL; 20 years are the most`);
  const windows = ttlSeconds / (windowDays * 86_400);
  // The negated comparison also refuses a window of 0 or NaN days.
  if (!(windows <= TWCS_MAX_WINDOWS)) {
    throw new RangeError(
      `${ttlSeconds} s of TTL are ${Math.ceil(windows)} windows of ${windowDays} days; ${TWCS_MAX_WINDOWS} is the most`,
    );
  }
}
