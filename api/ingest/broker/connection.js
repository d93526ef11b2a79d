import { setMaxListeners } from 'node:events';
import { MillraceError } from '../../../common/errors.js';
import { createAcknowledgements } from '../acknowledgements.js';
import { ConnectionReader } from '../backpressure/connection-reader.js';
import { packetLimit } from './packet-limit.js';
import { dropDeepTopics } from './restriction.js';

/** Made once: an error with its stack takes 20 µs, and 10,000 connections can break off in one turn of the event loop. */
const CLOSED = new MillraceError('unavailable', 'The connection closed.');

/**
 * What the broker keeps of one connection.
 *
 * @typedef {object} Connection
 * @property {import('aedes').Client} client
 * @property {import('../backpressure/connection-reader.js').ConnectionReader} reader
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
 * @param {import('../backpressure/read-scheduler.js').ReadScheduler} parts.scheduler
 * @param {number} parts.maxMessageBytes
 * @param {(client: import('aedes').Client, bytes: number) => void} parts.onTooLarge
 * @returns {Connection}
 */
export function openConnection(socket, { aedes, scheduler, maxMessageBytes, onTooLarge }) {
  socket.setNoDelay(true);
  const reader = new ConnectionReader(socket, {
    scheduler,
    packetLimit: packetLimit(maxMessageBytes),
    onTooLarge: (bytes) => onTooLarge(client, bytes),
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
    closing.abort(CLOSED);
  });
  return { client, reader, owed, closed: closing.signal, account: null, filters: new Set() };
}
