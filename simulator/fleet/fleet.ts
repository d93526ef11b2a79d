import { setTimeout as sleep } from 'node:timers/promises';
import type { DeviceFaults } from '../faults/device-faults.ts';
import type { OutgoingMessage } from '../outgoing-message.ts';
import { countSamples, type Series } from '../payloads/index.ts';
import { createDeadline } from '../timeouts.ts';
import type { SimulatedDevice, SimulatedSensor } from './devices.ts';
import { createLinks, type Sender } from './links.ts';

/** Brokers have a short queue for new connections. */
const CONNECTS = { atOnce: 20, pauseMs: 20 };

/** `all` for acknowledgements, and `aDevice` for the `offline` of each device behind a gateway. */
const FAREWELL_MS = { all: 5000, aDevice: 1 };

/** @param options createLoop: creates the loop that makes the devices measure and publish */
export function createFleet({
  devices,
  encode,
  faultsOf,
  createLoop,
  ...options
}: Parameters<typeof createLinks>[0] & {
  encode: (series: Series[]) => string;
  faultsOf: (device: SimulatedDevice) => DeviceFaults | null;
  createLoop: (members: Member[]) => { start: () => void; stop: () => void };
}) {
  const { links, senders } = createLinks({ devices, ...options });
  const members = devices.map(
    (simulated, index) =>
      new Member({
        simulated,
        sender: senders[index] as Sender,
        encode,
        faults: faultsOf(simulated),
      }),
  );
  const loop = createLoop(members);
  let stopping = false;
  let connecting: Promise<void> = Promise.resolve();

  async function connectAll() {
    for (const [index, link] of links.entries()) {
      if (stopping) return;
      link.start();
      if ((index + 1) % CONNECTS.atOnce === 0) await sleep(CONNECTS.pauseMs);
    }
  }

  return {
    connections: links.length,

    start() {
      connecting = connectAll();
      loop.start();
    },

    /** Registers all devices, and then starts the clock, so that registration is not timed. */
    async startWhenReady() {
      connecting = connectAll();
      await connecting;
      await Promise.all(links.map((link) => link.announceAll()));
      if (!stopping) loop.start();
    },

    connected: (): number => links.filter(({ connected }) => connected).length,

    everConnected: (): boolean => links.some(({ everConnected }) => everConnected),

    /** Publishes the measured samples, waits a short time for the acknowledgements, and disconnects. */
    async stop() {
      stopping = true;
      loop.stop();
      await connecting;
      for (const member of members) member.finish();
      const behindGateways = links.length < members.length ? members.length : 0;
      const deadline = createDeadline(FAREWELL_MS.all + FAREWELL_MS.aDevice * behindGateways);
      await Promise.all(links.map((link) => link.stop(deadline.passed)));
      deadline.cancel();
    },
  };
}

export type Fleet = ReturnType<typeof createFleet>;

export class Member {
  #simulated;
  #sender;
  #encode;
  #faults;
  #batch;

  constructor({
    simulated,
    sender,
    encode,
    faults,
  }: {
    simulated: SimulatedDevice;
    sender: { publish: (message: OutgoingMessage) => void };
    encode: (series: Series[]) => string;
    faults: DeviceFaults | null;
  }) {
    this.#simulated = simulated;
    this.#sender = sender;
    this.#encode = encode;
    this.#faults = faults;
    this.#batch = emptyBatch(simulated);
  }

  measure(ts: number) {
    for (let i = 0; i < this.#batch.length; i++) {
      const series = this.#batch[i] as Series;
      const sensor = this.#simulated.sensors[i] as SimulatedSensor;
      series.samples.push({ ts, value: sensor.read() });
    }
  }

  /** @param dueAt scheduled time of sending, in ms of `performance.now()` */
  publish(dueAt?: number) {
    if (countSamples(this.#batch) === 0) return;
    const series = this.#batch;
    this.#batch = emptyBatch(this.#simulated);
    this.#send(this.#faults ? this.#faults.next(series) : [{ series, payload: this.#encode(series) }], dueAt);
  }

  /** Also publishes the samples that the simulated faults held back. */
  finish() {
    this.publish();
    if (this.#faults) this.#send(this.#faults.rest());
  }

  #send(messages: OutgoingMessage[], dueAt?: number) {
    for (const message of messages)
      this.#sender.publish(dueAt === undefined ? message : { ...message, dueAt });
  }
}

const emptyBatch = ({ sensors }: SimulatedDevice): Series[] =>
  sensors.map(({ name, unit }) => ({ name, unit, samples: [] }));
