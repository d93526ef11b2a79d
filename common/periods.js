/**
 * Periods and timeouts of a process, in ms. Tests shorten them.
 *
 * - `keepAlive`: keep-alive interval of a connection to an external broker
 * - `quiet`: a session without a message for this time is empty
 * - `unsettled`: a message that is unsettled for this time is a symptom
 * - `heal`: interval of the resync of followed values; a lost change reaches readers within 30 s
 * - `heartbeat`: interval of the heartbeat of this process
 * - `recheck`: interval of the check of connected credentials; a rotated or revoked one ends within 30 s
 * - `request`: timeout for receiving an HTTP request
 * - `stall`: timeout for a client that reads nothing of an answer; the answer and its memory are released
 * - `certificates`: interval of the check for new certificates
 * - `pack`: interval of the check for hours to pack
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
