import { setMaxListeners } from 'node:events';
import { createAcknowledgements } from '../acknowledgements.js';
import { createFlow } from '../backpressure/connection-reader.js';
import { dropDeepTopics } from './restriction.js';
import { createSizeGuard } from './size-guard.js';

/**
 * What the broker keeps of one connection.
 *
 * @typedef {object} Connection
 * @property {import('aedes').Client} client
 * @property {import('../backpressure/connection-reader.js').Flow} flow
 * @property {import('../acknowledgements.js').Acknowledgements} owed
 * @property {AbortSignal} closed
 * @property {import('../../credentials/rights.js').Account | null} account null: it has not signed in
 * @property {Set<string>} filters that it has asked to follow
 * @property {string} [willTopic] where its last will is to go
 */

/**
 * Hands a socket to aedes, which reads and writes it from now on, within the bounds that are ours.
 *
 * @param {import('node:net').Socket} socket
 * @param {object} parts
 * @param {import('aedes').Aedes} parts.aedes
 * @param {import('../backpressure/read-scheduler.js').Turns} parts.turns
 * @param {number} parts.maxMessageBytes
 * @param {(client: import('aedes').Client, bytes: number) => void} parts.onTooLarge
 * @returns {Connection}
 */
export function openConnection(socket, { aedes, turns, maxMessageBytes, onTooLarge }) {
  socket.setNoDelay(true);
  const flow = createFlow(socket, {
    onRead: createSizeGuard(maxMessageBytes, (bytes) => {
      onTooLarge(client, bytes);
      socket.destroy();
    }),
    turns,
    isConnected: () => client.connected,
  });
  const client = aedes.handle(socket);
  dropDeepTopics(client);
  const owed = createAcknowledgements();
  const closing = new AbortController();
  // Every message of this connection that waits listens to it.
  setMaxListeners(0, closing.signal);
  socket.on('close', () => {
    owed.drop();
    closing.abort();
  });
  return { client, flow, owed, closed: closing.signal, account: null, filters: new Set() };
}
