import { MillraceError } from '../common/errors.ts';
import type { StatusLine } from '../common/status-line.ts';
import { DeviceFaults } from './faults/device-faults.ts';
import { DeviceEpisodes } from './faults/episodes.ts';
import type { FaultRates } from './faults/rates.ts';
import type { Flags } from './flags.ts';
import { describeDevices, type SimulatedDevice } from './fleet/devices.ts';
import { createFleet, type Fleet } from './fleet/fleet.ts';
import { createClosedLoop, createOpenLoop } from './fleet/loops.ts';
import { sampleIntervalMs, samplesPerSensor } from './fleet/pacer.ts';
import type { Ledger } from './ledger/ledger.ts';
import type { Meter } from './meter.ts';
import { shownUrl } from './mqtt/broker.ts';
import type { Broker } from './mqtt/connection.ts';
import { ConnectionProblemReporter, neverConnected, refusal } from './mqtt/connection-problems.ts';
import { ENCODERS } from './payloads/index.ts';
import { createRandom } from './random.ts';
import { shown, statusText } from './report.ts';
import type { StopSignal } from './stop-signal.ts';
import { createDeadline, whenAborted } from './timeouts.ts';

/** A fixed rate starts when all devices are connected. The run fails when no device is connected in this time. */
const FIRST_CONNECT_MS = 30_000;

/** A shorter delay is not shown, because it is within the resolution of timers. */
const MIN_SHOWN_MS = 100;

export interface Run {
  flags: Flags;
  broker: Broker;
  seed: number;
  meter: Meter;
  ledger: Ledger | null;
  statusLine: StatusLine;
  stopSignal: StopSignal;
  /** called when measuring begins; the duration of the run counts from here */
  begin: () => void;
  /** the status line does not overwrite the text */
  print: (text: string) => void;
}

/** Runs until the stop signal. @throws `broker_away` when the broker refuses the devices, or is never reached */
export async function runFleet(
  run: Run,
  startFirstConnect: () => ReturnType<typeof createDeadline> = () => createDeadline(FIRST_CONNECT_MS),
) {
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

function beginWhenReady(
  fleet: Fleet,
  { flags, broker, stopSignal, begin, print }: Run,
  firstConnect: ReturnType<typeof createDeadline>,
) {
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

function buildFleet(
  { flags, broker, seed, meter, ledger, stopSignal, print }: Run,
  onTrouble: (reason: string) => void,
) {
  const { devices, connections, rate } = flags;
  const intervalMs = intervalOf(flags);
  const described = describeDevices({ ...flags, seed, intervalMs });
  const encode = ENCODERS[flags.format] as (typeof ENCODERS)[string];
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

/** In whole ms, as in the birth message. */
function intervalOf({ devices, rate, ...flags }: Flags): number {
  if (rate === undefined) return Math.round(flags.interval);
  return Math.round(sampleIntervalMs({ devices, perSecond: rate, samples: samplesPerSensor(flags) }));
}

function faultsBy(
  rates: FaultRates,
  { seed, encode, ledger }: { seed: number; encode: (typeof ENCODERS)[string]; ledger: Ledger | null },
): (device: SimulatedDevice) => DeviceFaults {
  const episodesOf = ({ name, sensors }: SimulatedDevice) =>
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
