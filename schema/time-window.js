/** ScyllaDB rejects a table whose TTL is more than 50 windows; repair and reads are best with 20 to 30. */
export const TWCS_MAX_WINDOWS = 50;

/** The longest TTL that the servers take, 20 years; HISTORY_DAYS ends there. */
export const MAX_TTL_SECONDS = 630_720_000;

/**
 * Time window of a time-window-compacted table: a thirtieth of the retention, in whole days.
 *
 * @param {number} retentionDays
 * @returns {{ ttlSeconds: number, windowDays: number }}
 * @throws {RangeError} when no window keeps the servers' rules
 */
export function windowFor(retentionDays) {
  if (!Number.isInteger(retentionDays) || retentionDays < 1) {
    throw new RangeError(`a retention is a whole number of days, 1 or more, not ${retentionDays}`);
  }
  const rule = { ttlSeconds: retentionDays * 86_400, windowDays: Math.ceil(retentionDays / 30) };
  checkWindow(rule);
  return rule;
}

/**
 * @param {{ ttlSeconds: number, windowDays: number }} rule
 * @throws {RangeError} when ScyllaDB would reject the table, or nothing would ever expire
 */
export function checkWindow({ ttlSeconds, windowDays }) {
  if (!(ttlSeconds > 0)) throw new RangeError('a time-window-compacted table needs a TTL');
  if (ttlSeconds > MAX_TTL_SECONDS) throw new RangeError(`${ttlSeconds} s of TTL; 20 years are the most`);
  const windows = ttlSeconds / (windowDays * 86_400);
  // Written so that a window of no days, or of NaN days, is refused as well.
  if (!(windows <= TWCS_MAX_WINDOWS)) {
    throw new RangeError(
      `${ttlSeconds} s of TTL are ${Math.ceil(windows)} windows of ${windowDays} days; ${TWCS_MAX_WINDOWS} is the most`,
    );
  }
}
