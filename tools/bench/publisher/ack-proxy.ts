import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { deviceName, NUMBER_DIGITS } from '../load/payloads.ts';

const PUBLISH = 0x30;
const PUBACK = 0x40;
const TYPE = 0xf0;

/** Position of the device number in a PUBLISH: after the length of the topic, at the end of the device name. */
const NUMBER_AT = 2 + 'iot/v1/'.length + deviceName(0).length - NUMBER_DIGITS;

/**
 * A proxy between a broker and an ingest process. A broker acknowledges messages to the publisher when it has queued them. Only the proxy
 * shows when ingest acknowledges, and so when a message was committed. Bytes pass through unchanged.
 * @param onCommitted called when ingest acknowledges a message. `intended`: when the publisher should have sent it, in ms of
 * `performance.now()`
 */
export async function openAckProxy(brokerUrl: string, onCommitted: (intended: number) => void) {
  const { hostname, port } = new URL(brokerUrl);
  const expected: Map<number, number[]> = new Map();
  const sockets: Set<Socket> = new Set();

  const server = createServer({ noDelay: true }, (client) => {
    const broker = connect({ host: hostname, port: Number(port), noDelay: true });
    const underWay: Map<number, number> = new Map();
    for (const [socket, other] of [[client, broker] as const, [broker, client] as const]) {
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
      if (intended !== undefined) underWay.set(body.readUInt16BE(2 + body.readUInt16BE(0)), intended);
    });
    const fromClient = createCutter((type, body) => {
      if (type !== PUBACK) return;
      const id = body.readUInt16BE(0);
      const intended = underWay.get(id);
      underWay.delete(id);
      if (intended !== undefined) onCommitted(intended);
    });
    broker.on('data', fromBroker);
    client.on('data', fromClient);
    // Pipes keep backpressure: if one side stops reading, the other side must wait, as it would without this proxy.
    broker.pipe(client);
    client.pipe(broker);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');

  return {
    url: `mqtt://127.0.0.1:${(server.address() as AddressInfo).port}`,

    expect(device: number, intended: number) {
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

export type AckProxy = Awaited<ReturnType<typeof openAckProxy>>;

function numberIn(body: Buffer): number {
  let number = 0;
  for (let at = NUMBER_AT; at < NUMBER_AT + NUMBER_DIGITS; at++) number = number * 10 + Number(body[at]) - 48;
  return number;
}

export function createCutter(onPacket: (type: number, body: Buffer) => void): (chunk: Buffer) => void {
  let rest: Buffer = Buffer.alloc(0);
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

function headAt(bytes: Buffer, at: number): { begin: number; end: number } | null {
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
