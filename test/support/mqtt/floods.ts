import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { until } from '../until.ts';
import { connectBytes, PINGREQ, subscribeBytes, unsubscribeBytes, type Will } from './packets.ts';

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
 * @param port of the broker
 */
export function createFloods(port: number, afterwards: (cleanUp: () => void) => void) {
  let clients = 0;

  async function open(will?: Will): Promise<Socket> {
    const socket = connect(port, '127.0.0.1');
    socket.on('error', () => {});
    afterwards(() => void socket.destroy());
    await once(socket, 'connect');
    socket.write(connectBytes({ clientId: `flood-${clients++}`, will }));
    await once(socket, 'data');
    return socket.resume();
  }

  async function openAll(count: number, will?: Will) {
    const sockets = [];
    while (sockets.length < count) {
      const length = Math.min(OPENED_AT_ONCE, count - sockets.length);
      sockets.push(...(await Promise.all(Array.from({ length }, () => open(will)))));
    }
    return sockets;
  }

  /**
   * Sends all packets of each connection in one write.
   * @param answerBytes size of the answers to each connection
   */
  async function send(connections: number, bytes: Buffer, answerBytes: number) {
    const sockets = await openAll(connections);
    for (const socket of sockets) socket.write(bytes);
    await answered(sockets, answerBytes);
  }

  /** @param answerBytes size of the answers to each after its CONNACK */
  async function answered(sockets: Socket[], answerBytes: number) {
    const all = CONNACK_BYTES + answerBytes;
    await until(() => sockets.every(({ bytesRead, closed }) => closed || bytesRead >= all), {
      withinMs: ANSWERED_WITHIN_MS,
      what: 'the answer to a flood',
    });
    const unserved = sockets.filter(({ bytesRead }) => bytesRead < all).length;
    for (const socket of sockets) socket.destroy();
    if (unserved > 0) throw new Error(`The broker closed ${unserved} connections before it had answered.`);
  }

  const subscriptions = (packets: number) =>
    Buffer.concat(times(packets, (index) => subscribeBytes(index + 1, `iot/v1/flood/${index}`)));

  return {
    open,

    /** @param packets of each, all with different filters */
    subscribe: (connections: number, packets: number) =>
      send(connections, subscriptions(packets), packets * SUBACK_BYTES),

    /** Sends the CONNECT and the SUBSCRIBE packets in one write. @param packets of each, after its CONNECT */
    async subscribeAtOnce(connections: number, packets: number) {
      const sockets = times(connections, () => connect(port, '127.0.0.1').resume());
      for (const socket of sockets) {
        afterwards(() => void socket.destroy());
        socket.write(
          Buffer.concat([connectBytes({ clientId: `flood-${clients++}` }), subscriptions(packets)]),
        );
      }
      await answered(sockets, packets * SUBACK_BYTES);
    },

    /** @param packets of each */
    unsubscribe: (connections: number, packets: number) =>
      send(
        connections,
        Buffer.concat(times(packets, (index) => unsubscribeBytes(index + 1, `iot/v1/flood/${index}`))),
        packets * SHORT_ACK_BYTES,
      ),

    /** @param packets of each */
    ping: (connections: number, packets: number) =>
      send(connections, Buffer.alloc(packets * PINGREQ.length, PINGREQ), packets * PINGRESP_BYTES),

    /**
     * Sends PUBREL and PUBREC, which the broker answers with one packet each, and PUBACK, which it does not answer.
     * @param packets of each, a third of each kind
     */
    acknowledge(connections: number, packets: number) {
      const triple = Buffer.from([0x62, 2, 0, 1, 0x40, 2, 0, 1, 0x50, 2, 0, 1]);
      const triples = Math.ceil(packets / 3);
      return send(connections, Buffer.alloc(triples * triple.length, triple), triples * 2 * SHORT_ACK_BYTES);
    },

    /** @param connections that break at the same time @returns breaks the connections */
    async prepareWills(connections: number): Promise<() => void> {
      const payload = JSON.stringify({ status: 'offline' });
      const sockets = await openAll(connections, { topic: 'iot/v1/flood/status', payload });
      return () => {
        for (const socket of sockets) socket.resetAndDestroy();
      };
    },
  };
}

const times = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index));
