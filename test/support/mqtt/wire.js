import { startGate } from './tcp-gate.js';

/**
 * The packets of one connection: QoS 1 messages of the broker and acknowledgements of the client, by
 * packet id and in order, and the numbers of pings and of granted subscriptions.
 *
 * @typedef {{ delivered: number[], acknowledged: number[], pings: number, granted: number }} WireConnection
 */

/**
 * Callbacks for the same packets. `body` is the rest of a PUBLISH after its fixed header.
 *
 * @typedef {object} WireWatch
 * @property {(connection: WireConnection, id: number, body: Buffer) => void} delivered
 * @property {(connection: WireConnection, id: number) => void} acknowledged
 */

/** Part of the client id of the connection for live changes, which these tests ignore. */
const LIVE = '-live-';

/**
 * Starts a proxy between a client and a broker. It records the packets of each connection of ingest, from its CONNECT on.
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
    /** @returns {WireConnection} the newest connection */
    last: () => /** @type {WireConnection} */ (connections.at(-1)),
    /** Breaks every connection, as a network would, and accepts new ones. */
    cut: gate.breakAll,
    stop: gate.stop,
  };
}

/** @typedef {Awaited<ReturnType<typeof startMqttWire>>} MqttWire */

/** @returns {(chunk: Buffer) => Array<{ first: number, body: Buffer }>} splits the bytes of one side into packets */
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
