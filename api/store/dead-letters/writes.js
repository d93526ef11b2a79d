import { createHash } from 'node:crypto';
import { int32 } from '../cells.js';
import { packElements } from './element-set.js';
import { keyOf, newLetterId } from './ids.js';

/** Of a longer payload only this much is kept, in bytes; it cannot be replayed. */
export const KEPT_PAYLOAD_BYTES = 65_536;

/** Refused measurements listed one by one with their codes; the counts and the set hold all of them. */
const LISTED = 100;

const INSERT = {
  name: 'write_dead_letter',
  cql: 'INSERT INTO dead_letter (hour, shard, id, device, topic, content_type, size, sha256, payload, codes, refused, refused_set) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)',
};

/** Why some measurements of a message were not stored. @typedef {import('../../../common/errors.js').Refusal[]} Refusals */

/**
 * @typedef {object} DeadLetter
 * @property {number} receivedAt epoch ms
 * @property {string | undefined} device as the topic has it; undefined for a letter that counts for several
 * @property {string} topic
 * @property {Record<string, number>} codes refused measurements by code
 * @property {{ contentType: string | undefined, payload: Buffer, refused: Refusals } | null} content of the message;
 *   null for a letter that only counts
 */

/** @param {import('../session.js').Session} session */
export function createDeadLetterWrites(session) {
  return {
    /**
     * @param {DeadLetter} letter
     * @returns {Promise<void>} settles when it is committed
     */
    async write({ receivedAt, device, topic, codes, content }) {
      await session.write(INSERT, [
        ...keyOf(newLetterId(receivedAt)),
        device,
        topic,
        content?.contentType,
        content ? int32(content.payload.length) : undefined,
        content ? createHash('sha256').update(content.payload).digest() : undefined,
        content?.payload.subarray(0, KEPT_PAYLOAD_BYTES),
        codes,
        content ? JSON.stringify(content.refused.slice(0, LISTED)) : undefined,
        content ? refusedSet(content.refused) : undefined,
      ]);
    },
  };
}

/** @typedef {ReturnType<typeof createDeadLetterWrites>} DeadLetterWrites */

/** @param {Refusals} refused @returns {Buffer | undefined} undefined: the message as a whole */
function refusedSet(refused) {
  const indexes = refused.map(({ index }) => index);
  return indexes.includes(-1) ? undefined : packElements(indexes);
}
