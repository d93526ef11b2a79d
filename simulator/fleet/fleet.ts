import { setTimeout as sleep } from 'node:timers/promises';
import { countSamples } from '../payloads/index.js';
import { createDeadline } from '../timeouts.js';
import { createLinks } from './links.js';

/** @import { DeviceFaults } from '../faults/device-faults.js' */
/** @import { OutgoingMessage } from '../outgoing-message.js' */
/** @import { Sender } from './links.js' */
/** @import { Series } from '../payloads/index.js' */
/** @import { SimulatedDevice, SimulatedSensor } from './devices.js' */

/** Number of connections that are opened at once, and the pause before the next ones. Brokers have a short queue for new connections. */
const CONNECTS = { atOnce: 20, pauseMs: 20 };

/** Time limits at the end, in ms: `all` for acknowledgements, and `aDevice` for the `offline` of each device behind a gateway. */
const FAREWELL_MS = { all: 5000, aDevice: 1 };

/**
 * Creates devices that measure and publish until they are stopped.
 *
 * @param {Parameters<typeof createLinks>[0] & {
 *   encode: (series: Series[]) => string,
 *   faultsOf: (device: SimulatedDevice) => DeviceFaults | null,
 *   createLoop: (members: Member[]) => { start: () => void, stop: () => void } }} options
 *   createLoop: creates the loop that makes the devices measure and publish
 */
export function createFleet({ devices, encode, faultsOf, createLoop, ...options }) {
  const { links, senders } = createLinks({ devices, ...options });
  const members = devices.map(
    (simulated, index) =>
      new Member({
        simulated,
        sender: /** @type {Sender} */ (senders[index]),
        encode,
        faults: faultsOf(simulated),
      }),
  );
  const loop = createLoop(members);
  let stopping = false;
  /** @type {Promise<void>} */
  let connecting = Promise.resolve();

  async function connectAll() {
    for (const [index, link] of links.entries()) {
      if (stopping) return;
      link.start();
      if ((index + 1) % CONNECTS.atOnce === 0) await sleep(CONNECTS.pauseMs);
    }
  }

  return {
    connections: links.length,

    /** Begins to connect the devices, and to measure. */
    start() {
      connecting = connectAll();
      loop.start();
    },

    /** Connects, registers all devices, and then starts the clock, so that registration is not timed. */
    async startWhenReady() {
      connecting = connectAll();
      await connecting;
      await Promise.all(links.map((link) => link.announceAll()));
      if (!stopping) loop.start();
    },

    /** @returns {number} connections that are up */
    connected: () => links.filter(({ connected }) => connected).length,

    /** @returns {boolean} whether one of the connections was up at any time */
    everConnected: () => links.some(({ everConnected }) => everConnected),

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

/** @typedef {ReturnType<typeof createFleet>} Fleet */

/** A device of the fleet: reads its sensors, gathers a batch, and hands it over. */
export class Member {
  #simulated;
  #sender;
  #encode;
  #faults;
  #batch;

  /**
   * @param {object} options
   * @param {SimulatedDevice} options.simulated
   * @param {{ publish: (message: OutgoingMessage) => void }} options.sender
   * @param {(series: Series[]) => string} options.encode
   * @param {DeviceFaults | null} options.faults
   */
  constructor({ simulated, sender, encode, faults }) {
    this.#simulated = simulated;
    this.#sender = sender;
    this.#encode = encode;
    this.#faults = faults;
    this.#batch = emptyBatch(simulated);
  }

  /** Reads every sensor once. @param {number} ts epoch ms */
  measure(ts) {
    for (let i = 0; i < this.#batch.length; i++) {
      const series = /** @type {Series} */ (this.#batch[i]);
      const sensor = /** @type {SimulatedSensor} */ (this.#simulated.sensors[i]);
      series.samples.push({ ts, value: sensor.read() });
    }
  }

  /** Publishes the samples of the batch. @param {number} [dueAt] scheduled time of sending, in ms of `performance.now()` */
  publish(dueAt) {
    if (countSamples(this.#batch) === 0) return;
    const series = this.#batch;
    this.#batch = emptyBatch(this.#simulated);
    this.#send(this.#faults ? this.#faults.next(series) : [{ series, payload: this.#encode(series) }], dueAt);
  }

  /** Publishes the samples of the batch, and those that the simulated faults held back. */
  finish() {
    this.publish();
    if (this.#faults) this.#send(this.#faults.rest());
  }

  /** @param {OutgoingMessage[]} messages @param {number} [dueAt] */
  #send(messages, dueAt) {
    for (const message of messages)
      this.#sender.publish(dueAt === undefined ? message : { ...message, dueAt });
  }
}

/** @param {SimulatedDevice} simulated @returns {Series[]} */
const emptyBatch = ({ sensors }) => sensors.map(({ name, unit }) => ({ name, unit, samples: [] }));
