import { LRUCache } from 'lru-cache';
import { identifyDevice } from '../../schema/ids.js';

/** Names kept, at about 300 bytes each. */
const MOST = 100_000;

/**
 * What topics call devices, resolved. An identity never changes, so it is found once: the UUID of a name is a SHA-1,
 * which with its buffers took 4 µs a message, a tenth of what a message of one sample costs ingest.
 */
export function createIdentities() {
  /** @type {LRUCache<string, import('../../schema/ids.js').Identity>} */
  const known = new LRUCache({ max: MOST });

  return {
    /** @param {string} text id or name @returns {import('../../schema/ids.js').Identity | null} null: neither */
    device(text) {
      const found = known.get(text);
      if (found) return found;
      const identity = identifyDevice(text);
      if (identity) known.set(text, identity);
      return identity;
    },
  };
}

/** @typedef {ReturnType<typeof createIdentities>} Identities */
