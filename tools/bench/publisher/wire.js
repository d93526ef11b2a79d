import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { deviceName, NUMBER_DIGITS } from '../load/payloads.js';

/** @import { AddressInfo, Socket } from 'node:net' */

const PUBLISH = 0x30;
const PUBACK = 0x40;
const TYPE = 0xf0;

/** The topic's length comes first; the device's number ends its name. */
const NUMBER_AT = 2 + 'iot/v1/'.length + deviceName(0).length - NUMBER_DIGITS;

/**
 * The wire between a broker and an ingest process. A broker acknowledges messages to the publisher when it has queued them. Only this
 * wire shows when ingest acknowledges, and so when a message was committed. Bytes pass through unchanged.
 *
 * @param {string} brokerUrl
 * @param {(intended: number, delivered: number) => void} onCommitted both by performance.now()
 */
export async function openWire(brokerUrl, onCommitted) {
  const { hostname, port } = new URL(brokerUrl);
  /** When the messages of each device that are on their way were meant to be sent: they come in this order. @type {Map<number, number[]>} */
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
    // Pipes, so that a side that does not read holds the other back as it would without us.
    broker.pipe(client);
    client.pipe(broker);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `mqtt://127.0.0.1:${/** @type {AddressInfo} */ (server.address()).port}`,

    /** @param {number} device its number @param {number} intended when its next message was meant to be sent */
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

/** @param {Buffer} body of a PUBLISH @returns {number} of its device */
function numberIn(body) {
  let number = 0;
  for (let at = NUMBER_AT; at < NUMBER_AT + NUMBER_DIGITS; at++) number = number * 10 + Number(body[at]) - 48;
  return number;
}

/**
 * @param {(type: number, body: Buffer) => void} onPacket
 * @returns {(chunk: Buffer) => void} cuts what one side sends into packets
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

/** @param {Buffer} bytes @param {number} at @returns {{ begin: number, end: number } | null} of a packet's body; null: not whole yet */
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
