import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDataDir } from '../../common/data-dir.js';
import { MillraceError } from '../../common/errors.js';

/** A cursor is good for this long, in ms. */
const VALID_MS = 24 * 3_600_000;

const MAC_BYTES = 16;

/** Ours are a tenth of this; nothing longer is looked at. */
const MOST_CHARACTERS = 2048;

const ADVICE =
  'begin again without a cursor, and keep all other parameters but limit the same from page to page.';

/**
 * Cursors: where a page ended, for the client an opaque word. Signed, since the place comes back as part of a query;
 * bound to its request, since a place in one listing means nothing in another; and expiring.
 *
 *     base64url( mac (16 bytes) | JSON [expires, place] )     mac = HMAC-SHA256(key, scope | 0 | JSON)
 *
 * @param {{ secret: string, clock: () => number }} parts `clock` in epoch ms
 */
export function createCursors({ secret, clock }) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'millrace cursor', 32));

  /** @param {string} scope @param {string} body */
  const sign = (scope, body) =>
    createHmac('sha256', key).update(`${scope}\0${body}`).digest().subarray(0, MAC_BYTES);

  return {
    /**
     * @param {string} scope route and conditions of the listing
     * @param {unknown} place JSON
     * @returns {string}
     */
    seal(scope, place) {
      const body = JSON.stringify([clock() + VALID_MS, place]);
      return Buffer.concat([sign(scope, body), Buffer.from(body)]).toString('base64url');
    },

    /**
     * @param {string} scope
     * @param {string} cursor
     * @returns {any} the place
     * @throws {MillraceError} `bad_cursor`: changed, of another listing, or expired
     */
    open(scope, cursor) {
      const bytes = Buffer.from(cursor.slice(0, MOST_CHARACTERS), 'base64url');
      const body = bytes.subarray(MAC_BYTES).toString('utf8');
      // The same bytes have many spellings in base64url; only ours is taken.
      const genuine =
        bytes.length > MAC_BYTES &&
        bytes.toString('base64url') === cursor &&
        timingSafeEqual(bytes.subarray(0, MAC_BYTES), sign(scope, body));
      if (!genuine) {
        throw new MillraceError('bad_cursor', `The cursor is of another request, or was changed: ${ADVICE}`);
      }
      const [expires, place] = JSON.parse(body);
      if (expires < clock()) throw new MillraceError('bad_cursor', `The cursor has expired: ${ADVICE}`);
      return place;
    },
  };
}

/** @typedef {ReturnType<typeof createCursors>} Cursors */

/**
 * The key that signs cursors, when no setting gives one: random, kept for the next start.
 *
 * @param {string} dataDir
 * @returns {Promise<string>}
 */
export async function cursorSecret(dataDir) {
  const path = join(dataDir, 'cursor-secret');
  await claimDataDir(dataDir);
  try {
    // Of two processes that start at once one writes; both read what was written.
    await writeFile(path, randomBytes(32).toString('base64url'), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'EEXIST') throw error;
  }
  return readFile(path, 'utf8');
}
