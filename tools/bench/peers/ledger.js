import { setTimeout as sleep } from 'node:timers/promises';
import { createClocks, createDevices, deviceName, STEP_MS, sensorName, tagOf } from '../load/payloads.js';
import { openConnection } from '../publisher/connection.js';
import { createPackets } from '../publisher/packets.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Connection } from '../publisher/connection.js' */

/** Messages that may wait for the broker's PUBACK. */
const WINDOW = 500;

/** Number of the first device. No load has these devices, so their samples are read back quickly. */
export const FIRST_DEVICE = 90_000;

/** Pause between two rounds of sending, and between two attempts to connect, in ms. */
const TICK_MS = 10;
const RECONNECT_MS = 100;

/** The time for the broker's last acknowledgements, after the last message, in ms. */
const LAST_PUBACK_MS = 5000;

/** The published messages: those that the broker acknowledged, and those of them that are stored. */
export class Ledger {
  #shape;
  /** Sent and not acknowledged: PUBACKs come in the order of the messages (MQTT 3.1.1, 4.6). @type {Array<{ device: number, time: number }>} */
  #pending = [];
  /** @type {Array<{ device: number, time: number }>} */
  #acknowledged = [];

  /** @param {Shape} shape */
  constructor(shape) {
    this.#shape = shape;
  }

  get pending() {
    return this.#pending.length;
  }

  /** Samples whose message the broker acknowledged. */
  get acknowledged() {
    return this.#acknowledged.length * this.#shape.sensors * this.#shape.samples;
  }

  /** @param {number} device @param {number} time of its first sample, epoch ms */
  send(device, time) {
    this.#pending.push({ device, time });
  }

  /** @param {number} count of PUBACKs */
  acknowledge(count) {
    this.#acknowledged.push(...this.#pending.splice(0, count));
  }

  /** The connection is lost. Pending messages were not promised. */
  forget() {
    this.#pending = [];
  }

  /**
   * @param {Iterable<[sensor: string, time: number]>} stored as the peers name sensors
   * @returns {number} acknowledged samples that are not stored
   */
  missing(stored) {
    const known = new Set();
    for (const [sensor, time] of stored) known.add(`${sensor}@${time}`);
    let missing = 0;
    for (const { device, time } of this.#acknowledged) {
      for (let sensor = 0; sensor < this.#shape.sensors; sensor++) {
        const tag = tagOf(deviceName(device), sensorName(sensor));
        for (let at = 0; at < this.#shape.samples; at++) {
          if (!known.has(`${tag}@${time + at * STEP_MS}`)) missing++;
        }
      }
    }
    return missing;
  }
}

/**
 * Publishes at a fixed rate and notes everything in a ledger. It reconnects to a broker that was killed, and sends nothing
 * twice.
 *
 * @param {object} options
 * @param {string} options.url of the broker
 * @param {Shape} options.shape
 * @param {number} options.rate messages/s
 * @param {Ledger} options.ledger
 * @returns {Promise<() => Promise<void>>} ends it, once all that was sent is acknowledged
 */
export async function publishByLedger({ url, shape, rate, ledger }) {
  const packets = createPackets(shape);
  const devices = createDevices({
    clocks: createClocks(),
    first: FIRST_DEVICE,
    count: shape.devices,
    samples: shape.samples,
  });
  /** @type {Connection | null} */
  let connection = null;
  let over = false;
  let id = 0;
  let due = 0;
  let last = performance.now();

  async function connect() {
    while (!over && !connection) {
      connection = await openConnection({
        url,
        clientId: 'bench-ledger',
        onAcknowledged: (count) => ledger.acknowledge(count),
        onDrain: () => {},
        onBroken,
      }).catch(() => null);
      if (!connection) await sleep(RECONNECT_MS);
    }
  }

  function onBroken() {
    connection = null;
    ledger.forget();
    connect().catch(() => {}); // The function retries by itself until the run is over.
  }

  function publish() {
    const now = performance.now();
    due = Math.min(due + ((now - last) * rate) / 1000, WINDOW);
    last = now;
    const count = Math.min(Math.floor(due), WINDOW - ledger.pending);
    if (!connection || count <= 0) return;
    due -= count;
    const chunk = Buffer.allocUnsafe(count * packets.most);
    let at = 0;
    for (let message = 0; message < count; message++) {
      devices.advance(Date.now());
      id = (id % 65_535) + 1;
      at = packets.write(chunk, at, devices, id);
      ledger.send(devices.number, devices.time);
    }
    connection.send(chunk.subarray(0, at));
  }

  await connect();
  const timer = setInterval(publish, TICK_MS);
  return async () => {
    clearInterval(timer);
    const deadline = Date.now() + LAST_PUBACK_MS;
    while (ledger.pending > 0 && Date.now() < deadline) await sleep(TICK_MS);
    over = true;
    connection?.close();
  };
}
