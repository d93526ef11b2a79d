import { MillraceError } from '../common/errors.js';
import { createFleet } from './fleet/fleet.js';
import { describeHerd } from './fleet/herd.js';
import { shownUrl } from './mqtt/broker.js';
import { createTroubleReporter, refusal } from './mqtt/trouble.js';
import { ENCODERS } from './payloads/index.js';
import { statusText } from './report.js';
import { whenAborted } from './waits.js';

/**
 * What a run is given.
 *
 * @typedef {object} Run
 * @property {import('./flags.js').Flags} flags
 * @property {import('./mqtt/connection.js').Broker} broker
 * @property {number} seed
 * @property {import('./meter.js').Meter} meter
 * @property {import('../common/status-line.js').StatusLine} statusLine
 * @property {import('./stop-signal.js').StopSignal} stopSignal
 * @property {(text: string) => void} say prints a line that stays
 */

/**
 * Runs simulated devices until the stop signal.
 *
 * @param {Run} run
 * @throws {MillraceError} `broker_away` when the broker refuses us
 */
export async function runFleet({ flags, broker, seed, meter, statusLine, stopSignal, say }) {
  const { interval, devices, sensors } = flags;
  const intervalMs = Math.round(interval);
  const herd = describeHerd({ devices, sensors, seed, intervalMs });
  const total = herd.reduce((sum, device) => sum + device.sensors.length, 0);
  say(`${devices} devices with ${total} sensors on ${shownUrl(broker.url)}, --seed ${seed}`);
  const trouble = createTroubleReporter(statusLine);
  const fleet = createFleet({
    herd,
    broker,
    encode: /** @type {typeof ENCODERS[string]} */ (ENCODERS[flags.format]),
    pace: { intervalMs, batchMs: flags.batch, buffer: flags.buffer },
    meter,
    onTrouble: trouble.report,
    onRefused: (reason) => stopSignal.stop(refusal(broker.url, reason)),
  });
  const show = () => {
    const connected = fleet.connected();
    if (connected === devices) trouble.over();
    statusLine.update(statusText(`${connected}/${devices} devices`, meter.snapshot()));
  };
  const showing = setInterval(show, 1000);
  fleet.start();
  await whenAborted(stopSignal.signal);
  await fleet.stop();
  clearInterval(showing);
  if (stopSignal.signal.reason instanceof MillraceError) throw stopSignal.signal.reason;
}
