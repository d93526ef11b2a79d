import { generate, type Packet, parser } from 'mqtt-packet';

/** MQTT 3.1.1 packets as bytes, for tests that write to a socket themselves. */

/** of QoS 1 */
export type Will = { topic: string; payload: string };

const bytesOf = (packet: Packet): Buffer => generate(packet, { protocolVersion: 4 });

/** @param options `keepalive` in s */
export const connectBytes = ({
  clientId,
  keepalive = 0,
  clean = true,
  will,
}: {
  clientId: string;
  keepalive?: number;
  clean?: boolean;
  will?: Will;
}) =>
  bytesOf({
    cmd: 'connect',
    protocolVersion: 4,
    clientId,
    keepalive,
    clean,
    ...(will && { will: { topic: will.topic, payload: Buffer.from(will.payload), qos: 1, retain: false } }),
  });

/** @param id none: QoS 0 */
export const publishBytes = (topic: string, payload: string | Buffer, id?: number, qos: 1 | 2 = 1) =>
  bytesOf({
    cmd: 'publish',
    topic,
    payload,
    dup: false,
    retain: false,
    ...(id === undefined ? { qos: 0 } : { qos, messageId: id }),
  });

/** Subscribes with QoS 0. @param filter default: everything */
export const subscribeBytes = (id: number, filter: string = '#') =>
  bytesOf({ cmd: 'subscribe', messageId: id, subscriptions: [{ topic: filter, qos: 0 }] });

export const unsubscribeBytes = (id: number, filter: string) =>
  bytesOf({ cmd: 'unsubscribe', messageId: id, unsubscriptions: [filter] });

export const PINGREQ = bytesOf({ cmd: 'pingreq' });

/**
 * Splits the bytes of one side of a connection into packets.
 * @param connection protocol version, which the CONNECT of the connection sets
 */
export function createPacketReader(connection: { version: number }): (chunk: Buffer) => Packet[] {
  let packets: Packet[] = [];
  let reader: ReturnType<typeof parser> | null = null;
  return (chunk) => {
    packets = [];
    reader ??= parser({ protocolVersion: connection.version }).on('packet', (packet) => {
      if (packet.cmd === 'connect') connection.version = Number(packet.protocolVersion);
      packets.push(packet);
    });
    reader.parse(chunk);
    return packets;
  };
}

/** @param bytes from a broker @returns the ids of the PUBACKs in the bytes */
export const pubackIds = (bytes: Buffer): number[] =>
  createPacketReader({ version: 4 })(bytes).flatMap(({ cmd, messageId }) =>
    cmd === 'puback' ? [Number(messageId)] : [],
  );
