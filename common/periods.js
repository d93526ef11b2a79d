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
 * - `stream`: interval of the check for closed hours to complete in Kafka
 * - `changes`: age of a commit before readers of changes get it: two clocks differ by two minutes at most, and a write fails after 5 s
 * - `learn`: interval of the check for baselines to learn
 * - `alarmRules`: interval of the check for changed alarm rules
 * - `absence`: interval of the check for sensors that are absent
 * - `alarmRecheck`: first pause before an open alarm is evaluated again; each further one is twice as long
 * - `alarmRecovery`: interval in which evaluation of alarms stores its progress, and looks for processes that died
 * - `alarmDeliveries`: interval of the check for deliveries to repeat
 * - `baselines`: interval of the check for learned baselines to read
 * - `provisional`: interval of the check for sensors without a learned baseline to read
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
  stream: 10_000,
  changes: 150_000,
  learn: 60_000,
  baselines: 60_000,
  provisional: 1000,
  alarmRules: 2000,
  absence: 250,
  alarmRecheck: 1000,
  alarmRecovery: 5000,
  alarmDeliveries: 2000,
};

/** @typedef {typeof PERIODS_MS} Periods */
