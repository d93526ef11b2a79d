/**
 * Times after which a process does something by itself, in ms; a test may shorten them.
 *
 * - `keepAlive`: a quiet connection to an external broker says that it is there
 * - `quiet`: a session from which nothing has come for this long holds nothing any more
 * - `unsettled`: a message that is unsettled for this long is a sign of trouble
 * - `heal`: what readers follow is read again so often; a change that was lost on the way is theirs within 30 s
 * - `heartbeat`: this process tells the others that it runs
 * - `recheck`: those that are connected are held against their credentials; one that was rotated or revoked ends within 30 s
 * - `request`: an HTTP request that has not arrived whole is given up
 * - `stall`: an answer of which the client has taken nothing for this long is given up, and what is in memory of it
 * - `certificates`: looks whether there are new certificates in the files
 * - `pack`: looks whether an hour is to be packed
 */
export const PERIODS_MS = {
  keepAlive: 60_000,
  quiet: 5000,
  unsettled: 30_000,
  heal: 25_000,
  heartbeat: 10_000,
  recheck: 20_000,
  request: 30_000,
  stall: 120_000,
  certificates: 10_000,
  pack: 10_000,
};

/** @typedef {typeof PERIODS_MS} Periods */
