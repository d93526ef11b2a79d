import { once } from 'node:events';
import { connect, createServer } from 'node:net';

/**
 * A listener between a client and a broker that reads along: which QoS 1 messages the broker sent, which
 * acknowledgements the client gave, and how often it said that it is there, connection by connection.
 *
 * @typedef {{ delivered: number[], acknowledged: number[], pings: number }} WireConnection packet ids, in order
 */

/** @param {string} url of the broker */
export async function startMqttWire(url) {
  const { hostname, port } = new URL(url);
  /** @type {WireConnection[]} */
  const connections = [];
  /** @type {Set<import('node:net').Socket>} */
  const sockets = new Set();

  const server = createServer((client) => {
    const broker = connect(Number(port), hostname);
    /** @type {WireConnection} */
    const seen = { delivered: [], acknowledged: [], pings: 0 };
    connections.push(seen);
    for (const socket of [client, broker]) {
      sockets.add(socket);
      socket.on('error', () => {}); // Its `close` follows, and ends the other side.
      socket.on('close', () => {
        sockets.delete(socket);
        client.destroy();
        broker.destroy();
      });
    }
    const fromClient = createPacketReader();
    client.on('data', (chunk) => {
      for (const { first, body } of fromClient(chunk)) {
        if (first === 0x40) seen.acknowledged.push(body.readUInt16BE(0));
        if (first === 0xc0) seen.pings++;
      }
    });
    const fromBroker = createPacketReader();
    broker.on('data', (chunk) => {
      for (const { first, body } of fromBroker(chunk)) {
        if ((first & 0xf6) === 0x32) seen.delivered.push(body.readUInt16BE(2 + body.readUInt16BE(0)));
      }
    });
    // Pipes, so that a side that does not read holds the other back as it would without us.
    client.pipe(broker);
    broker.pipe(client);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = /** @type {import('node:net').AddressInfo} */ (server.address());

  return {
    url: `mqtt://127.0.0.1:${address.port}`,
    connections,
    /** @returns {WireConnection} the newest */
    last: () => /** @type {WireConnection} */ (connections.at(-1)),
    /** Breaks every connection, as a network would. */
    cut() {
      for (const socket of sockets) socket.destroy();
    },
    async stop() {
      server.close();
      for (const socket of sockets) socket.destroy();
      await once(server, 'close');
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startMqttWire>>} MqttWire */

/** @returns {(chunk: Buffer) => Array<{ first: number, body: Buffer }>} cuts what one side sends into whole packets */
function createPacketReader() {
  let rest = Buffer.alloc(0);
  return (chunk) => {
    rest = Buffer.concat([rest, chunk]);
    const packets = [];
    for (;;) {
      let length = 0;
      let header = 1;
      do {
        if (header >= rest.length) return packets;
        length += (Number(rest[header]) & 0x7f) * 128 ** (header - 1);
      } while (Number(rest[header++]) & 0x80);
      if (rest.length < header + length) return packets;
      packets.push({ first: Number(rest[0]), body: rest.subarray(header, header + length) });
      rest = rest.subarray(header + length);
    }
  };
}
