import { LRUCache } from 'lru-cache';
import { encodeRebirth } from './payload/rebirth.js';

/** An edge node is asked at most once in this time, in ms: a birth of thousands of metrics takes a while. */
const EVERY_MS = 10_000;

/** Nodes for which the time of the last request is kept. */
const MOST_NODES = 100_000;

/**
 * Asks edge nodes to be born anew (tck-id-operational-behavior-data-commands-ncmd-rebirth-verb).
 *
 * @param {object} parts
 * @param {import('../pipeline.js').Send} parts.send
 * @param {() => number} parts.clock epoch ms
 * @param {() => void} parts.onRequest
 */
export function createRebirths({ send, clock, onRequest }) {
  /** @type {LRUCache<string, number>} when each was asked, in epoch ms, by its topic of commands */
  const asked = new LRUCache({ max: MOST_NODES });

  return {
    /** @param {string} topic on which the node takes commands */
    request(topic) {
      const now = clock();
      // A clock that was set back must not silence us until it has caught up.
      if (Math.abs(now - (asked.get(topic) ?? Number.NEGATIVE_INFINITY)) < EVERY_MS) return;
      asked.set(topic, now);
      onRequest();
      send(topic, encodeRebirth(now));
    },
  };
}

/** @typedef {ReturnType<typeof createRebirths>} Rebirths */
