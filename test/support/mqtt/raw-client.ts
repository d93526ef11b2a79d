import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import mqttPacket from 'mqtt-packet';
import { until } from '../until.js';

/** @import { IConnectPacket, Packet } from 'mqtt-packet' */

const OPTIONS = { protocolVersion: 5 };

/** @param {object} packet @returns {Buffer} the packet as MQTT 5 */
export const bytesOf = (packet) => mqttPacket.generate(/** @type {Packet} */ (packet), OPTIONS);

/** @type {IConnectPacket} */
const CONNECT = {
  cmd: 'connect',
  protocolId: 'MQTT',
  protocolVersion: 5,
  clean: true,
  clientId: '',
  keepalive: 0,
};

/** @param {Partial<IConnectPacket>} [options] */
export const connectPacket = (options) => ({ ...CONNECT, ...options });

/**
 * Opens a connection that sends any packet, also one that no client library sends, and keeps each packet that it receives.
 *
 * @param {number} port of the broker
 * @param {(cleanUp: () => void) => void} afterwards
 */
export async function openRaw(port, afterwards) {
  const socket = connectTcp(port, '127.0.0.1');
  socket.on('error', () => {});
  afterwards(() => void socket.destroy());
  const parser = mqttPacket.parser(OPTIONS);
  /** @type {any[]} */
  const received = [];
  parser.on('packet', (packet) => received.push(packet));
  socket.on('data', (chunk) => void parser.parse(chunk));
  await once(socket, 'connect');

  return {
    socket,
    received,

    /** @param {...object} packets are sent in one write */
    send: (...packets) => socket.write(Buffer.concat(packets.map(bytesOf))),

    /** @param {Buffer} bytes */
    sendBytes: (bytes) => socket.write(bytes),

    /** Takes the first packet of a kind, and waits for it if necessary. @param {string} cmd @returns {Promise<any>} */
    async take(cmd) {
      const find = () => received.findIndex((packet) => packet.cmd === cmd);
      await until(() => find() >= 0 || socket.closed, { what: `a ${cmd}` });
      const index = find();
      if (index < 0) throw new Error(`The broker closed the connection before a ${cmd}.`);
      return received.splice(index, 1)[0];
    },

    /** Waits until the broker has closed the connection. */
    untilClosed: () => until(() => socket.closed, { what: 'the end of the connection' }),

    /** Waits until the broker has handled every packet before. */
    async settle() {
      this.send({ cmd: 'pingreq' });
      await this.take('pingresp');
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof openRaw>>} RawClient */

/**
 * @param {number} port
 * @param {(cleanUp: () => void) => void} afterwards
 * @param {Partial<IConnectPacket>} [options]
 */
export async function connectRaw(port, afterwards, options) {
  const client = await openRaw(port, afterwards);
  client.send(connectPacket(options));
  const connack = await client.take('connack');
  return { ...client, connack };
}
