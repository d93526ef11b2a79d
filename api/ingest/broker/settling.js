import { restrict } from './restriction.js';

/**
 * Settles what is published. aedes acknowledges a message, and hands it on to others, once `authorizePublish` calls
 * back: so that is where it waits for the commit.
 *
 * @param {object} parts
 * @param {import('../accept.js').Accept} parts.accept
 * @param {() => number} parts.clock epoch ms
 * @param {(client: import('aedes').Client) => import('./connection.js').Connection | undefined} parts.connectionOf
 */
export function createSettling({ accept, clock, connectionOf }) {
  /**
   * @param {import('aedes').PublishPacket} packet
   * @param {AbortSignal} [signal]
   */
  async function settle(packet, signal) {
    const { topic, payload } = packet;
    const bytes = Buffer.isBuffer(payload) ? payload : Buffer.from(payload);
    restrict(packet, await accept({ topic, payload: bytes, retained: false, receivedAt: clock(), signal }));
  }

  /**
   * @param {import('aedes').Client | null} client null for the wills of connections that are long gone
   * @param {import('aedes').PublishPacket} packet is changed
   * @param {(error?: Error | null) => void} done sends the PUBACK
   */
  return (client, packet, done) => {
    // Of a connection that is closed comes its will alone.
    const connection = client && !client.closed ? connectionOf(client) : undefined;
    if (!connection) {
      settle(packet).then(() => done(), done);
      return;
    }
    const { flow, owed, closed } = connection;
    const size = packet.payload.length;
    flow.enter(size);
    // Nothing is owed for QoS 0, also not that the connection is still there when it is handed on to others.
    const settled = packet.qos === 0 ? () => done() : owed.owe(done);
    settle(packet, closed).then(
      () => {
        settled();
        flow.leave(size);
      },
      // Never acknowledged: the device comes back and sends it again.
      () => client?.conn.destroy(),
    );
  };
}
