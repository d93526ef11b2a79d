import { once } from 'node:events';
import { connect } from 'node:net';
import { until } from '../until.js';
import { connectBytes, PINGREQ, subscribeBytes, unsubscribeBytes } from './packets.js';

/** @import { Socket } from 'node:net' */
/** @import { Will } from './packets.js' */

const CONNACK_BYTES = 4;
const SUBACK_BYTES = 5;
const SHORT_ACK_BYTES = 4;
const PINGRESP_BYTES = 2;

/** Sockets opened at once, as many as the backlog of the system holds. */
const OPENED_AT_ONCE = 100;

/** Timeout for the answers to a flood, in ms, on a slow and busy machine. */
const ANSWERED_WITHIN_MS = 120_000;

/**
 * Sends floods of packets to the embedded broker from ordinary MQTT connections.
 *
 * @param {number} port of the broker
 * @param {(cleanUp: () => void) => void} afterwards
 */
export function createFloods(port, afterwards) {
  let clients = 0;

  /** @param {Will} [will] @returns {Promise<Socket>} after its CONNACK */
  async function open(will) {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    afterwards(() => void socket.destroy());
    await once(socket, 'connect');
    socket.write(connectBytes({ clientId: `flood-${clients++}`, will }));
    await once(socket, 'data');
    return socket.resume();
  }

  /** @param {number} count @param {Will} [will] */
  async function openAll(count, will) {
    const sockets = [];
    while (sockets.length < count) {
      const length = Math.min(OPENED_AT_ONCE, count - sockets.length);
      sockets.push(...(await Promise.all(Array.from({ length }, () => open(will)))));
    }
    return sockets;
  }

  /**
   * Sends all packets of each connection in one write.
   *
   * @param {number} connections
   * @param {Buffer} bytes
   * @param {number} answerBytes size of the answers to each connection
   */
  async function send(connections, bytes, answerBytes) {
    const sockets = await openAll(connections);
    for (const socket of sockets) socket.write(bytes);
    await answered(sockets, answerBytes);
  }

  /** @param {Socket[]} sockets @param {number} answerBytes size of the answers to each after its CONNACK */
  async function answered(sockets, answerBytes) {
    const all = CONNACK_BYTES + answerBytes;
    await until(() => sockets.every(({ bytesRead, closed }) => closed || bytesRead >= all), {
      withinMs: ANSWERED_WITHIN_MS,
      what: 'the answer to a flood',
    });
    const unserved = sockets.filter(({ bytesRead }) => bytesRead < all).length;
    for (const socket of sockets) socket.destroy();
    if (unserved > 0) throw new Error(`The broker closed ${unserved} connections before it had answered.`);
  }

  /** @param {number} packets */
  const subscriptions = (packets) =>
    Buffer.concat(times(packets, (index) => subscribeBytes(index + 1, `iot/v1/flood/${index}`)));

  return {
    open,

    /** @param {number} connections @param {number} packets of each, all with different filters */
    subscribe: (connections, packets) => send(connections, subscriptions(packets), packets * SUBACK_BYTES),

    /**
     * Sends the CONNECT and the SUBSCRIBE packets in one write.
     *
     * @param {number} connections
     * @param {number} packets of each, after its CONNECT
     */
    async subscribeAtOnce(connections, packets) {
      const sockets = times(connections, () => connect(port, '127.0.0.1').resume());
      for (const socket of sockets) {
        afterwards(() => void socket.destroy());
        socket.write(
          Buffer.concat([connectBytes({ clientId: `flood-${clients++}` }), subscriptions(packets)]),
        );
      }
      await answered(sockets, packets * SUBACK_BYTES);
    },

    /** @param {number} connections @param {number} packets of each */
    unsubscribe: (connections, packets) =>
      send(
        connections,
        Buffer.concat(times(packets, (index) => unsubscribeBytes(index + 1, `iot/v1/flood/${index}`))),
        packets * SHORT_ACK_BYTES,
      ),

    /** @param {number} connections @param {number} packets of each */
    ping: (connections, packets) =>
      send(connections, Buffer.alloc(packets * PINGREQ.length, PINGREQ), packets * PINGRESP_BYTES),

    /**
     * Sends PUBREL and PUBREC, which the broker answers with one packet each, and PUBACK, which it does not answer.
     *
     * @param {number} connections
     * @param {number} packets of each, a third of each kind
     */
    acknowledge(connections, packets) {
      const triple = Buffer.from([0x62, 2, 0, 1, 0x40, 2, 0, 1, 0x50, 2, 0, 1]);
      const triples = Math.ceil(packets / 3);
      return send(connections, Buffer.alloc(triples * triple.length, triple), triples * 2 * SHORT_ACK_BYTES);
    },

    /**
     * @param {number} connections that break at the same time
     * @returns {Promise<() => void>} breaks the connections
     */
    async prepareWills(connections) {
      const payload = JSON.stringify({ status: 'offline' });
      const sockets = await openAll(connections, { topic: 'iot/v1/flood/status', payload });
      return () => {
        for (const socket of sockets) socket.resetAndDestroy();
      };
    },
  };
}

/** @template T @param {number} length @param {(index: number) => T} make */
const times = (length, make) => Array.from({ length }, (_, index) => make(index));
