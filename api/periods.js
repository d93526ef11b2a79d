/**
 * How often a process does what nobody asks it for, in ms; a test may shorten them.
 *
 * - `keepAlive`: a quiet connection to an external broker says that it is there
 */
export const PERIODS_MS = { keepAlive: 60_000 };

/** @typedef {typeof PERIODS_MS} Periods */
