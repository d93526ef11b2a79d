import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { deviceName, NUMBER_DIGITS } from '../load/payloads.js';

/** @import { AddressInfo, Socket } from 'node:net' */

const PUBLISH = 0x30;
const PUBACK = 0x40;
const TYPE = 0xf0;

/** Position of the device number in a PUBLISH: after the length of the topic, at the end of the device name. */
const NUMBER_AT = 2 + 'iot/v1/'.length + deviceName(0).length - NUMBER_DIGITS;

/**
 * Opens a proxy (the wire) between a broker and an ingest process. A broker acknowledges messages to the publisher when it has
 * queued them. Only the wire shows when ingest acknowledges, and so when a message was committed. Bytes pass through unchanged.
 *
 * @param {string} brokerUrl
 * @param {(intended: number, delivered: number) => void} onCommitted called when ingest acknowledges a message. `intended`: when
 *   the publisher should have sent the message; `delivered`: when the broker sent it to ingest; both in ms of `performance.now()`
 */
export async function openWire(brokerUrl, onCommitted) {
  const { hostname, port } = new URL(brokerUrl);
  /** Intended times of the messages of each device that are under way, in the order of their arrival. @type {Map<number, number[]>} */
  const expected = new Map();
  /** @type {Set<Socket>} */
  const sockets = new Set();

  const server = createServer({ noDelay: true }, (client) => {
    const broker = connect({ host: hostname, port: Number(port), noDelay: true });
    /** By packet id. @type {Map<number, { intended: number, delivered: number }>} */
    const underWay = new Map();
    for (const [socket, other] of [
      /** @type {const} */ ([client, broker]),
      /** @type {const} */ ([broker, client]),
    ]) {
      sockets.add(socket);
      socket.on('error', () => {}); // The event `close` follows.
      socket.on('close', () => {
        sockets.delete(socket);
        other.destroy();
      });
    }
    const fromBroker = createCutter((type, body) => {
      if (type !== PUBLISH) return;
      const intended = expected.get(numberIn(body))?.shift();
      if (intended === undefined) return;
      underWay.set(body.readUInt16BE(2 + body.readUInt16BE(0)), { intended, delivered: performance.now() });
    });
    const fromClient = createCutter((type, body) => {
      if (type !== PUBACK) return;
      const id = body.readUInt16BE(0);
      const message = underWay.get(id);
      underWay.delete(id);
      if (message) onCommitted(message.intended, message.delivered);
    });
    broker.on('data', fromBroker);
    client.on('data', fromClient);
    // Pipes keep backpressure: if one side stops reading, the other side must wait, as it would without this proxy.
    broker.pipe(client);
    client.pipe(broker);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `mqtt://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`,

    /** @param {number} device number of the device @param {number} intended intended time of its next message */
    expect(device, intended) {
      const queue = expected.get(device);
      if (queue) queue.push(intended);
      else expected.set(device, [intended]);
    },

    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof openWire>>} Wire */

/** @param {Buffer} body body of a PUBLISH @returns {number} number of its device */
function numberIn(body) {
  let number = 0;
  for (let at = NUMBER_AT; at < NUMBER_AT + NUMBER_DIGITS; at++) number = number * 10 + Number(body[at]) - 48;
  return number;
}

/**
 * Splits a stream of bytes into MQTT packets.
 *
 * @param {(type: number, body: Buffer) => void} onPacket
 * @returns {(chunk: Buffer) => void} gets the chunks of one side
 */
export function createCutter(onPacket) {
  /** @type {Buffer} */
  let rest = Buffer.alloc(0);
  return (chunk) => {
    const bytes = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
    let at = 0;
    for (;;) {
      const head = headAt(bytes, at);
      if (!head || head.end > bytes.length) break;
      onPacket(Number(bytes[at]) & TYPE, bytes.subarray(head.begin, head.end));
      at = head.end;
    }
    rest = bytes.subarray(at);
  };
}

/**
 * @param {Buffer} bytes
 * @param {number} at
 * @returns {{ begin: number, end: number } | null} start and end of a packet's body; null: the packet is incomplete
 */
function headAt(bytes, at) {
  let length = 0;
  let factor = 1;
  for (let next = at + 1; next < bytes.length; next++) {
    const byte = Number(bytes[next]);
    length += (byte & 0x7f) * factor;
    factor *= 128;
    if (byte < 0x80) return { begin: next + 1, end: next + 1 + length };
  }
  return null;
}
