import { setTimeout as sleep } from 'node:timers/promises';
import { createLatencies } from '../load/latencies.js';
import { openConnection } from './connection.js';
import { createPackets } from './packets.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Latencies } from '../load/latencies.js' */

/** Each device sends one message in this time, in ms. */
const INTERVAL_MS = 1000;

/**
 * Devices with a connection each that send a message a second, evenly spread over the second.
 *
 * @param {object} options
 * @param {string} options.url mqtt://host:port
 * @param {Shape} options.shape of a message
 * @param {number} options.first number of the first device
 * @param {number} options.count of devices
 */
export async function connectQuietDevices({ url, shape, first, count }) {
  const latencies = createLatencies();
  const packets = createPackets(shape);
  /** @type {Array<{ sentAt: number | null, send: () => void, close: () => void }>} */
  const devices = [];
  for (let index = 0; index < count; index++) {
    const bytes = Buffer.alloc(packets.most);
    const connection = await openConnection({
      url,
      clientId: `quiet-${index}`,
      onAcknowledged() {
        if (device.sentAt !== null) latencies.record(performance.now() - device.sentAt);
        device.sentAt = null;
      },
      onDrain: () => {},
      onBroken(error) {
        throw error;
      },
    });
    const device = {
      sentAt: /** @type {number | null} */ (null),
      close: () => connection.close(),
      send() {
        // One that still waits for its PUBACK is late already: its latency is recorded when it comes.
        if (device.sentAt !== null) return;
        device.sentAt = performance.now();
        const length = packets.write(bytes, 0, { number: first + index, time: Date.now() }, 1);
        connection.send(bytes.subarray(0, length));
      },
    };
    devices.push(device);
  }

  return {
    /** @param {number} forMs @returns {Promise<Latencies>} from the send to the PUBACK */
    async measure(forMs) {
      latencies.reset();
      const began = performance.now();
      for (let sent = 0; ; sent++) {
        const due = began + (sent * INTERVAL_MS) / devices.length;
        if (due >= began + forMs) break;
        await sleep(Math.max(0, due - performance.now()));
        devices[sent % devices.length]?.send();
      }
      while (devices.some(({ sentAt }) => sentAt !== null)) await sleep(10);
      return latencies.read();
    },
    close() {
      for (const device of devices) device.close();
    },
  };
}
