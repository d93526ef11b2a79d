import { MillraceError } from '../common/errors.js';
import { DeviceFaults } from './faults/device-faults.js';
import { DeviceEpisodes } from './faults/episodes.js';
import { describeDevices } from './fleet/devices.js';
import { createFleet } from './fleet/fleet.js';
import { createClosedLoop, createOpenLoop } from './fleet/loops.js';
import { sampleIntervalMs, samplesPerSensor } from './fleet/pacer.js';
import { shownUrl } from './mqtt/broker.js';
import { ConnectionProblemReporter, neverConnected, refusal } from './mqtt/connection-problems.js';
import { ENCODERS } from './payloads/index.js';
import { createRandom } from './random.js';
import { shown, statusText } from './report.js';
import { createDeadline, whenAborted } from './timeouts.js';

/** @import { StatusLine } from '../common/status-line.js' */
/** @import { FaultRates } from './faults/rates.js' */
/** @import { Flags } from './flags.js' */
/** @import { SimulatedDevice } from './fleet/devices.js' */
/** @import { Fleet } from './fleet/fleet.js' */
/** @import { Ledger } from './ledger/ledger.js' */
/** @import { Meter } from './meter.js' */
/** @import { Broker } from './mqtt/connection.js' */
/** @import { StopSignal } from './stop-signal.js' */

/**
 * Time limit for the first connection at a fixed rate, in ms. A fixed rate starts when all devices are connected. The run fails
 * when no device is connected in this time.
 */
const FIRST_CONNECT_MS = 30_000;

/** A delay below this limit, in ms, is not shown, because it is within the resolution of timers. */
const MIN_SHOWN_MS = 100;

/**
 * The options of a run.
 *
 * @typedef {object} Run
 * @property {Flags} flags
 * @property {Broker} broker
 * @property {number} seed
 * @property {Meter} meter
 * @property {Ledger | null} ledger
 * @property {StatusLine} statusLine
 * @property {StopSignal} stopSignal
 * @property {() => void} begin called when measuring begins; the duration of the run counts from here
 * @property {(text: string) => void} print prints a line that the status line does not overwrite
 */

/**
 * Runs simulated devices until the stop signal.
 *
 * @param {Run} run
 * @param {() => ReturnType<typeof createDeadline>} [startFirstConnect] starts the time limit for the first connection
 * @throws {MillraceError} `broker_away` when the broker refuses the devices, or is never reached
 */
export async function runFleet(run, startFirstConnect = () => createDeadline(FIRST_CONNECT_MS)) {
  const { flags, meter, statusLine, stopSignal } = run;
  const trouble = new ConnectionProblemReporter(statusLine);
  const { fleet, behindMs } = buildFleet(run, (reason) => trouble.report(reason));
  const what = fleet.connections < flags.devices ? 'connections' : 'devices';
  const show = () => {
    const connected = fleet.connected();
    if (connected === fleet.connections) trouble.over();
    const late = behindMs() < MIN_SHOWN_MS ? '' : `, ${shown(behindMs())} ms behind`;
    statusLine.update(statusText(`${connected}/${fleet.connections} ${what}${late}`, meter.snapshot()));
  };
  const showing = setInterval(show, 1000);
  try {
    if (flags.rate === undefined) {
      fleet.start();
      run.begin();
    } else {
      beginWhenReady(fleet, run, startFirstConnect());
    }
    await whenAborted(stopSignal.signal);
    await fleet.stop();
  } finally {
    clearInterval(showing);
  }
  if (stopSignal.signal.reason instanceof MillraceError) throw stopSignal.signal.reason;
}

/**
 * @param {Fleet} fleet
 * @param {Run} run
 * @param {ReturnType<typeof createDeadline>} firstConnect
 */
function beginWhenReady(fleet, { flags, broker, stopSignal, begin, print }, firstConnect) {
  // A broker that was reached once may come back, so the run continues.
  void firstConnect.passed.then(() => {
    if (!fleet.everConnected()) stopSignal.stop(neverConnected(broker.url));
  });
  stopSignal.signal.addEventListener('abort', firstConnect.cancel);
  fleet.startWhenReady().then(() => {
    firstConnect.cancel();
    if (stopSignal.signal.aborted) return;
    print(`All devices are registered; ${flags.rate} messages/s from now on`);
    begin();
  }, stopSignal.stop);
}

/** @param {Run} run @param {(reason: string) => void} onTrouble */
function buildFleet({ flags, broker, seed, meter, ledger, stopSignal, print }, onTrouble) {
  const { devices, connections, rate } = flags;
  const intervalMs = intervalOf(flags);
  const described = describeDevices({ ...flags, seed, intervalMs });
  const encode = /** @type {typeof ENCODERS[string]} */ (ENCODERS[flags.format]);
  let behindMs = () => 0;
  const fleet = createFleet({
    devices: described,
    connections: Math.min(connections, devices),
    buffer: flags.buffer,
    open: rate !== undefined,
    broker,
    encode,
    faultsOf: flags.faults ? faultsBy(flags.faults, { seed, encode, ledger }) : () => null,
    createLoop(members) {
      if (rate === undefined) return createClosedLoop(members, { intervalMs, batchMs: flags.batch });
      const loop = createOpenLoop(members, { perSecond: rate, samples: samplesPerSensor(flags) });
      behindMs = loop.behindMs;
      return loop;
    },
    meter,
    ledger,
    onTrouble,
    onRefused: (reason) => stopSignal.stop(refusal(broker, reason)),
  });
  const total = described.reduce((sum, { sensors }) => sum + sensors.length, 0);
  const through = connections < devices ? `, through ${fleet.connections} connections` : '';
  print(`${devices} devices with ${total} sensors on ${shownUrl(broker.url)}${through}, --seed ${seed}`);
  return { fleet, behindMs: () => behindMs() };
}

/** @param {Flags} flags @returns {number} whole ms between two samples of a sensor, as in the birth message */
function intervalOf({ devices, rate, ...flags }) {
  if (rate === undefined) return Math.round(flags.interval);
  return Math.round(sampleIntervalMs({ devices, perSecond: rate, samples: samplesPerSensor(flags) }));
}

/**
 * @param {FaultRates} rates
 * @param {{ seed: number, encode: typeof ENCODERS[string], ledger: Ledger | null }} options
 * @returns {(device: SimulatedDevice) => DeviceFaults}
 */
function faultsBy(rates, { seed, encode, ledger }) {
  /** @param {SimulatedDevice} device */
  const episodesOf = ({ name, sensors }) =>
    new DeviceEpisodes({
      count: rates.episodes,
      sensors,
      onSent: (episode) => ledger?.episode(name, episode),
    });
  return (device) =>
    new DeviceFaults({
      rates,
      random: createRandom(seed, device.name, 'faults'),
      encode,
      episodes: rates.episodes > 0 ? episodesOf(device) : null,
    });
}
