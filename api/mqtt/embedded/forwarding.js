import { DROPPED } from './settling.js';

/**
 * Not to a client whose connection is full: what is written to it is kept in memory until it reads, or is closed for
 * that. Ingest never waits for a reader.
 *
 * @param {() => void} onFull
 * @returns {import('aedes').AuthorizeForwardHandler}
 */
export const forwarding = (onFull) => (client, packet) => {
  if (packet.topic === DROPPED) return null;
  if (!client.conn.writableNeedDrain) return packet;
  onFull();
  return null;
};
