import { LRUCache } from 'lru-cache';
import protobuf from 'protobufjs/minimal.js';

/** @import { Send } from '../pipeline.js' */

/** An edge node is asked at most once in this time, in ms: a birth of thousands of metrics takes a while. */
const EVERY_MS = 10_000;

/** Nodes for which the time of the last request is kept. */
const MOST_NODES = 100_000;

/**
 * Asks edge nodes to be born anew (tck-id-operational-behavior-data-commands-ncmd-rebirth-verb).
 *
 * @param {object} deps
 * @param {Send} deps.send
 * @param {() => number} deps.clock epoch ms
 * @param {() => void} deps.onRequest
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

const { Writer } = protobuf;

/** Index of the data type Boolean. */
const BOOLEAN = 11;

/**
 * The command to be born anew: one metric with the value true, a timestamp, and no sequence number
 * (tck-id-operational-behavior-data-commands-ncmd-rebirth-name, tck-id-payloads-ncmd-timestamp, tck-id-payloads-ncmd-seq).
 *
 * @param {number} now epoch ms
 * @returns {Buffer}
 */
export function encodeRebirth(now) {
  const writer = Writer.create();
  writer.uint32(1 << 3).uint64(now);
  writer.uint32((2 << 3) | 2).fork();
  writer.uint32((1 << 3) | 2).string('Node Control/Rebirth');
  writer.uint32(3 << 3).uint64(now);
  writer.uint32(4 << 3).uint32(BOOLEAN);
  writer.uint32(14 << 3).bool(true);
  writer.ldelim();
  return Buffer.from(writer.finish());
}
