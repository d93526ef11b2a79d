import { elementsIn } from './element-set.js';
import { keyOf, receivedAtOf } from './ids.js';

const SELECT = {
  name: 'read_dead_letter',
  cql: 'SELECT device, topic, content_type, size, sha256, payload, codes, refused, refused_set FROM dead_letter WHERE hour = ? AND shard = ? AND id = ?',
};

/**
 * A dead letter, read back.
 *
 * @typedef {object} StoredLetter
 * @property {Buffer} id 16 bytes
 * @property {number} receivedAt epoch ms
 * @property {string | null} device as the topic has it; null for a letter that counts for several
 * @property {string} topic
 * @property {Record<string, number>} codes refused measurements by code
 * @property {StoredContent | null} content null for a letter that only counts
 */

/**
 * @typedef {object} StoredContent
 * @property {string | undefined} contentType
 * @property {number} size bytes of the whole payload
 * @property {Buffer} sha256 of the whole payload
 * @property {Buffer} payload its beginning
 * @property {import('./writes.js').Refusals} refused the first of them
 * @property {((index: number) => boolean) | null} isRefused of an element of the message; null: it was refused as a whole
 */

/**
 * @param {import('../session.js').Session} session
 * @param {Buffer} id
 * @returns {Promise<StoredLetter | null>} null: there is none, or none any more
 */
export async function readLetter(session, id) {
  const row = await session.one(SELECT, keyOf(id));
  return row && letterOf(id, row);
}

/** @param {Buffer} id @param {import('../session.js').Row} row @returns {StoredLetter} */
const letterOf = (id, row) => ({
  id,
  receivedAt: receivedAtOf(id),
  device: row['device'],
  topic: row['topic'],
  codes: row['codes'] ?? {},
  content:
    row['payload'] === null
      ? null
      : {
          contentType: row['content_type'] ?? undefined,
          size: row['size'],
          sha256: row['sha256'],
          payload: row['payload'],
          refused: JSON.parse(row['refused']),
          isRefused: row['refused_set'] === null ? null : elementsIn(row['refused_set']),
        },
});
