import type { IPublishPacket } from 'mqtt-packet';
import { startTcpProxy } from '../http/tcp-proxy.ts';
import { createPacketReader } from './packets.ts';

/**
 * The packets of one connection: QoS 1 messages of the broker and acknowledgements of the client, by packet
 * id and in order, and the numbers of pings and of granted subscriptions.
 */
export type ProxyConnection = { delivered: number[]; acknowledged: number[]; pings: number; granted: number };

/** Callbacks for the same packets. */
export interface PacketWatch {
  delivered: (connection: ProxyConnection, id: number, packet: IPublishPacket) => void;
  acknowledged: (connection: ProxyConnection, id: number) => void;
}

/** Part of the client id of the connection for live changes, which these tests ignore. */
const LIVE = '-live-';

/**
 * Starts a proxy between a client and a broker. It records the packets of each connection of ingest, from its CONNECT on.
 * @param url of the broker
 */
export async function startMqttProxy(url: string, watch?: PacketWatch) {
  const connections: ProxyConnection[] = [];

  const proxy = await startTcpProxy(url, () => {
    const seen: ProxyConnection = { delivered: [], acknowledged: [], pings: 0, granted: 0 };
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
    url: proxy.url,
    tcpProxy: proxy,
    connections,
    /** @returns the newest connection */
    last: (): ProxyConnection => connections.at(-1) as ProxyConnection,
    /** Breaks every connection, as a network would, and accepts new ones. */
    cut: proxy.breakAll,
    stop: proxy.stop,
  };
}

export type MqttProxy = Awaited<ReturnType<typeof startMqttProxy>>;
