import type { IPublishPacket } from 'mqtt-packet';
import { startGate } from '../http/tcp-gate.ts';
import { createPacketReader } from './packets.ts';

/**
 * The packets of one connection: QoS 1 messages of the broker and acknowledgements of the client, by packet
 * id and in order, and the numbers of pings and of granted subscriptions.
 */
export type WireConnection = { delivered: number[]; acknowledged: number[]; pings: number; granted: number };

/** Callbacks for the same packets. */
export interface WireWatch {
  delivered: (connection: WireConnection, id: number, packet: IPublishPacket) => void;
  acknowledged: (connection: WireConnection, id: number) => void;
}

/** Part of the client id of the connection for live changes, which these tests ignore. */
const LIVE = '-live-';

/**
 * Starts a proxy between a client and a broker. It records the packets of each connection of ingest, from its CONNECT on.
 * @param url of the broker
 */
export async function startMqttWire(url: string, watch?: WireWatch) {
  const connections: WireConnection[] = [];

  const gate = await startGate(url, () => {
    const seen: WireConnection = { delivered: [], acknowledged: [], pings: 0, granted: 0 };
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
    /** @returns the newest connection */
    last: (): WireConnection => connections.at(-1) as WireConnection,
    /** Breaks every connection, as a network would, and accepts new ones. */
    cut: gate.breakAll,
    stop: gate.stop,
  };
}

export type MqttWire = Awaited<ReturnType<typeof startMqttWire>>;
