import { startGate } from '../http/tcp-gate.js';
import { createPacketReader } from './packets.js';

/** @import { IPublishPacket } from 'mqtt-packet' */

/**
 * The packets of one connection: QoS 1 messages of the broker and acknowledgements of the client, by
 * packet id and in order, and the numbers of pings and of granted subscriptions.
 *
 * @typedef {{ delivered: number[], acknowledged: number[], pings: number, granted: number }} WireConnection
 */

/**
 * Callbacks for the same packets.
 *
 * @typedef {object} WireWatch
 * @property {(connection: WireConnection, id: number, packet: IPublishPacket) => void} delivered
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
    const mqtt = { version: 4 };
    const clientPackets = createPacketReader(mqtt);
    const brokerPackets = createPacketReader(mqtt);
    return {
      fromClient(chunk) {
        for (const packet of clientPackets(chunk)) {
          if (packet.cmd === 'connect' && !packet.clientId.includes(LIVE)) connections.push(seen);
          if (packet.cmd === 'pingreq') seen.pings++;
          if (packet.cmd !== 'puback') continue;
          seen.acknowledged.push(Number(packet.messageId));
          watch?.acknowledged(seen, Number(packet.messageId));
        }
      },
      fromServer(chunk) {
        for (const packet of brokerPackets(chunk)) {
          if (packet.cmd === 'suback') seen.granted++;
          if (packet.cmd !== 'publish' || packet.qos !== 1) continue;
          seen.delivered.push(Number(packet.messageId));
          watch?.delivered(seen, Number(packet.messageId), packet);
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
