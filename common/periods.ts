/**
 * Periods and timeouts of the core, in ms. Each feature has its own. Tests shorten them.
 *
 * - `keepAlive`: keep-alive interval of a connection to an external broker
 * - `unsettled`: if a received message is not acknowledged after this time, health reports a symptom
 * - `heal`: interval of the resync of the live values that readers follow; a lost change reaches readers within 30 s
 * - `heartbeat`: interval of the heartbeat of this process
 * - `request`: timeout for receiving an HTTP request
 * - `stall`: timeout for a client that stops reading an answer; then the API ends the answer and releases its memory
 * - `certificates`: interval of the check for new certificates
 * - `pack`: interval of the check for hours to pack
 * - `beat`: interval of the heartbeat of a journal; another process takes it over after 20 intervals without one
 */
export const PERIODS_MS = {
  keepAlive: 60_000,
  unsettled: 30_000,
  heal: 25_000,
  heartbeat: 10_000,
  request: 30_000,
  stall: 120_000,
  certificates: 10_000,
  pack: 10_000,
  beat: 1000,
};

export type Periods = typeof PERIODS_MS;

/** Periods in ms by name, also of features, that replace the defaults. */
export type OtherPeriods = Record<string, number>;

/** Returns the given periods, with other values if tests have set them. */
export type PeriodsOf = <P extends Record<string, number>>(defaults: P) => P;

export const createPeriodsOf =
  (others: OtherPeriods = {}): PeriodsOf =>
  <P extends Record<string, number>>(defaults: P) =>
    Object.fromEntries(Object.entries(defaults).map(([name, ms]) => [name, others[name] ?? ms])) as P;
