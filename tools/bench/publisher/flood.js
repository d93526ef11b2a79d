/**
 * A thread that publishes for one device as fast as its messages are acknowledged, until the thread is ended. Its
 * `workerData` is an `Options`.
 */
import { workerData } from 'node:worker_threads';
import { openConnection } from './connection.js';
import { createPackets } from './packets.js';

/** @import { Shape } from '../load/shapes.js' */

/**
 * @typedef {object} Options
 * @property {string} url mqtt://host:port
 * @property {Shape} shape
 * @property {number} device its number
 * @property {number} unacknowledged messages at once
 */

const { url, shape, device, unacknowledged } = /** @type {Options} */ (workerData);

const MAX_PACKET_ID = 65_535;
const packets = createPackets(shape);
let sent = 0;
let time = Date.now() - 3_600_000;

/** @param {number} count */
function send(count) {
  const bytes = Buffer.alloc(count * packets.most);
  let length = 0;
  for (let left = count; left > 0; left--) {
    time += shape.samples;
    length = packets.write(bytes, length, { number: device, time }, (sent++ % MAX_PACKET_ID) + 1);
  }
  connection.send(bytes.subarray(0, length));
}

const connection = await openConnection({
  url,
  clientId: 'flood',
  onAcknowledged: send,
  onDrain: () => {},
  onBroken(error) {
    throw error;
  },
});
send(unacknowledged);
