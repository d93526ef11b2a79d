import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import type { IConnectPacket, Packet } from 'mqtt-packet';
import mqttPacket from 'mqtt-packet';
import { until } from '../until.ts';

const OPTIONS = { protocolVersion: 5 };

export const bytesOf = (packet: object): Buffer => mqttPacket.generate(packet as Packet, OPTIONS);

const CONNECT: IConnectPacket = {
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 5,
  clean: true,
  clientId: '',
  keepalive: 0,
};

export const connectPacket = (options?: Partial<IConnectPacket>) => ({ ...CONNECT, ...options });

/**
 * Opens a connection that sends any packet, also one that no client library sends, and keeps each packet that it receives.
 * @param port of the broker
 */
export async function openRaw(port: number, afterwards: (cleanUp: () => void) => void) {
  const socket = connectTcp(port, '127.0.0.1');
  socket.on('error', () => {});
  afterwards(() => void socket.destroy());
  const parser = mqttPacket.parser(OPTIONS);
  const received: Packet[] = [];
  parser.on('packet', (packet) => received.push(packet));
  socket.on('data', (chunk) => void parser.parse(chunk));
  await once(socket, 'connect');

  return {
    socket,
    received,

    /** @param packets are sent in one write */
    send: (...packets: object[]) => socket.write(Buffer.concat(packets.map(bytesOf))),

    sendBytes: (bytes: Buffer) => socket.write(bytes),

    /** Takes the first packet of a kind, and waits for it if necessary. */
    async take<C extends Packet['cmd']>(cmd: C): Promise<Extract<Packet, { cmd: C }>> {
      const find = () => received.findIndex((packet) => packet.cmd === cmd);
      await until(() => find() >= 0 || socket.closed, { what: `a ${cmd}` });
      const index = find();
      if (index < 0) throw new Error(`The broker closed the connection before a ${cmd}.`);
      return received.splice(index, 1)[0] as Extract<Packet, { cmd: C }>;
    },

    untilClosed: () => until(() => socket.closed, { what: 'the end of the connection' }),

    /** Waits until the broker has handled every packet before. */
    async settle() {
      this.send({ cmd: 'pingreq' });
      await this.take('pingresp');
    },
  };
}

export type RawClient = Awaited<ReturnType<typeof openRaw>>;

export async function connectRaw(
  port: number,
  afterwards: (cleanUp: () => void) => void,
  options?: Partial<IConnectPacket>,
) {
  const client = await openRaw(port, afterwards);
  client.send(connectPacket(options));
  const connack = await client.take('connack');
  return { ...client, connack };
}
