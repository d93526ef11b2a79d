import { createHmac, hkdfSync, randomBytes, randomUUID, timingSafeEqual } from 'node:crypto';
import { link, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { claimDataDir } from '../../common/data-dir.ts';
import { codeOf, MillraceError } from '../../common/errors.ts';

const VALID_MS = 24 * 3_600_000;

const MAC_BYTES = 16;

/** Real cursors have a tenth of this length. */
const MAX_CHARACTERS = 2048;

const ADVICE =
  'start again without a cursor, and keep all parameters except limit the same from page to page.';

/**
 * Returns functions that make and open cursors. A cursor marks the end of a page, and clients must not interpret it. It is
 * signed, because clients send it back in a query. It is bound to its listing, because its position means nothing in another
 * listing. It also expires.
 *
 *     base64url( mac (16 bytes) | JSON [expires, position] )     mac = HMAC-SHA256(key, scope | 0 | JSON)
 * @param deps `clock`: epoch ms
 */
export function createCursors({ secret, clock }: { secret: string; clock: () => number }) {
  const key = Buffer.from(hkdfSync('sha256', secret, '', 'millrace cursor', 32));

  const sign = (scope: string, body: string) =>
    createHmac('sha256', key).update(`${scope}\0${body}`).digest().subarray(0, MAC_BYTES);

  return {
    /** `scope`: route and conditions of the listing. `position`: JSON. */
    seal(scope: string, position: unknown, validMs: number = VALID_MS): string {
      const body = JSON.stringify([clock() + validMs, position]);
      return Buffer.concat([sign(scope, body), Buffer.from(body)]).toString('base64url');
    },

    /**
     * `T` is the type that `seal` got for this scope.
     * @throws `bad_cursor` if the cursor was changed, is from another listing, or has expired
     */
    open<T>(scope: string, cursor: string): T {
      const bytes = Buffer.from(cursor.slice(0, MAX_CHARACTERS), 'base64url');
      const body = bytes.subarray(MAC_BYTES).toString('utf8');
      // base64url has several encodings of the same bytes. Only the canonical encoding is valid.
      const genuine =
        bytes.length > MAC_BYTES &&
        bytes.toString('base64url') === cursor &&
        timingSafeEqual(bytes.subarray(0, MAC_BYTES), sign(scope, body));
      if (!genuine) {
        throw new MillraceError(
          'bad_cursor',
          `The cursor belongs to another request, or was changed: ${ADVICE}`,
        );
      }
      const [expires, position]: [number, T] = JSON.parse(body);
      if (expires < clock()) throw new MillraceError('bad_cursor', `The cursor has expired: ${ADVICE}`);
      return position;
    },
  };
}

export type Cursors = ReturnType<typeof createCursors>;

/**
 * For an installation without a key in its settings: random, and stored for the next start.
 * @throws `bad_settings` if the file of the key is empty
 */
export async function cursorSecret(dataDir: string): Promise<string> {
  const path = join(dataDir, 'cursor-secret');
  await claimDataDir(dataDir);
  const secret = (await readIfThere(path)) ?? (await createSecret(path));
  if (secret !== '') return secret;
  throw new MillraceError('bad_settings', `${path} is empty: remove it, or set CURSOR_SECRET.`);
}

async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') throw error;
    return null;
  }
}

/** A file system without hard links, such as exFAT, answers with these. */
const NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'];

/** Another process may have created the file meanwhile. */
async function createSecret(path: string): Promise<string> {
  const draft = `${path}.${randomUUID()}`;
  try {
    // A full disk would leave an incomplete file. So the secret is written under another name and linked when it is complete.
    const secret = randomBytes(32).toString('base64url');
    await writeFile(draft, secret, { flag: 'wx', mode: 0o600 });
    // If two processes start at the same time, one of them creates the file and both read it.
    await link(draft, path).catch((error) => {
      if (!NO_LINKS.includes(error.code)) throw error;
      return writeFile(path, secret, { flag: 'wx', mode: 0o600 });
    });
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    await rm(draft, { force: true });
  }
  return readFile(path, 'utf8');
}
