import { startGate } from './tcp-gate.js';

/**
 * What passed in one connection: which QoS 1 messages the broker sent and which acknowledgements the client gave, by
 * packet id and in order, how often the client said that it is there, how often a subscription was granted.
 *
 * @typedef {{ delivered: number[], acknowledged: number[], pings: number, granted: number }} WireConnection
 */

/**
 * Is told of the same while it happens; `body` is what follows the fixed header of a PUBLISH.
 *
 * @typedef {object} WireWatch
 * @property {(connection: WireConnection, id: number, body: Buffer) => void} delivered
 * @property {(connection: WireConnection, id: number) => void} acknowledged
 */

/** In the client id of the connection by which live changes go, which has nothing to do with what these tests look at. */
const LIVE = '-live-';

/**
 * A listener between a client and a broker that reads along: what ingest takes, of each connection from its CONNECT on.
 *
 * @param {string} url of the broker
 * @param {WireWatch} [watch]
 */
export async function startMqttWire(url, watch) {
  /** @type {WireConnection[]} */
  const connections = [];

  const gate = await startGate(url, () => {
    /** @type {WireConnection} */
    const seen = { delivered: [], acknowledged: [], pings: 0, granted: 0 };
    const clientPackets = createPacketReader();
    const brokerPackets = createPacketReader();
    return {
      fromClient(chunk) {
        for (const { first, body } of clientPackets(chunk)) {
          if (first === 0x10 && !body.includes(LIVE)) connections.push(seen);
          if (first === 0xc0) seen.pings++;
          if (first !== 0x40) continue;
          seen.acknowledged.push(body.readUInt16BE(0));
          watch?.acknowledged(seen, body.readUInt16BE(0));
        }
      },
      fromServer(chunk) {
        for (const { first, body } of brokerPackets(chunk)) {
          if (first === 0x90) seen.granted++;
          if ((first & 0xf6) !== 0x32) continue;
          const id = body.readUInt16BE(2 + body.readUInt16BE(0));
          seen.delivered.push(id);
          watch?.delivered(seen, id, body);
        }
      },
    };
  });

  return {
    url: gate.url,
    gate,
    connections,
    /** @returns {WireConnection} the newest */
    last: () => /** @type {WireConnection} */ (connections.at(-1)),
    /** Breaks every connection, as a network would, and lets new ones in. */
    cut: gate.breakAll,
    stop: gate.stop,
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
