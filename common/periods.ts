/**
 * Periods and timeouts of a process, in ms. Tests shorten them.
 *
 * - `keepAlive`: keep-alive interval of a connection to an external broker
 * - `quiet`: if an MQTT session gets no message for this time, its queue counts as empty
 * - `unsettled`: if a received message is not acknowledged after this time, health reports a symptom
 * - `heal`: interval of the resync of the live values that readers follow; a lost change reaches readers within 30 s
 * - `heartbeat`: interval of the heartbeat of this process
 * - `recheck`: interval of the check of the credentials of open connections; after a rotation or revocation they close within 30 s
 * - `request`: timeout for receiving an HTTP request
 * - `stall`: timeout for a client that stops reading an answer; then the API ends the answer and releases its memory
 * - `certificates`: interval of the check for new certificates
 * - `pack`: interval of the check for hours to pack
 * - `stream`: interval of the check for closed hours whose records in Kafka are incomplete
 * - `learn`: interval of the check for baselines to learn
 * - `alarmRules`: interval of the check for changed alarm rules
 * - `absence`: interval of the check for sensors that are absent
 * - `alarmRecheck`: first pause before an open alarm is evaluated again; each later pause is twice as long
 * - `alarmRecovery`: interval in which alarm evaluation stores its progress, and looks for processes that died
 * - `alarmDeliveries`: interval of the check for deliveries to repeat
 * - `rollUps`: interval of the check for roll-ups of assets that are due
 * - `baselines`: interval of the check for learned baselines to read
 * - `assets`: interval of the check for changes of the tree of assets
 * - `assetSites`: devices that register within this time are placed under the assets of their sites together
 * - `assetSweep`: interval of the check for devices that are not under the asset of their site
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
  learn: 60_000,
  rollUps: 30_000,
  baselines: 60_000,
  alarmRules: 2000,
  absence: 250,
  alarmRecheck: 1000,
  alarmRecovery: 5000,
  alarmDeliveries: 2000,
  assets: 2000,
  assetSites: 1000,
  assetSweep: 600_000,
};

export type Periods = typeof PERIODS_MS;
