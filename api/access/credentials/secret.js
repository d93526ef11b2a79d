import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

const SECRET_BYTES = 32;
const SALT_BYTES = 12;
const HASH_BYTES = 64;

/**
 * Enough, since nobody can guess at 32 random bytes, and little, so that a fleet that comes back at once is let in at
 * once. It is also what Mosquitto counts to.
 */
const ITERATIONS = 101;

/** Mosquitto's sign for PBKDF2 with SHA-512. */
const KIND = '7';

/** What a secret is held against where there is no account: of the same cost, and never right. */
const NOBODY = { iterations: ITERATIONS, salt: Buffer.alloc(SALT_BYTES), expected: Buffer.alloc(HASH_BYTES) };

/** @returns {string} for a device to keep; we keep its hash */
export const makeSecret = () => randomBytes(SECRET_BYTES).toString('base64url');

/**
 * @param {string | Buffer} secret
 * @returns {Promise<string>} as a line of Mosquitto's password file has it: `$7$101$salt$hash`
 */
export async function hashSecret(secret) {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(secret, salt, ITERATIONS, HASH_BYTES, 'sha512');
  return `$${KIND}$${ITERATIONS}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/**
 * Whether a secret is the one of which this is the hash. Without a hash, the same is done for nothing: how long it takes
 * does not tell whether there is such an account.
 *
 * @param {string | Buffer} secret
 * @param {string | null} hash null or empty: there is no account, or it is revoked
 */
export async function isSecret(secret, hash) {
  const known = readHash(hash ?? '');
  const { iterations, salt, expected } = known ?? NOBODY;
  const given = await derive(secret, salt, iterations, HASH_BYTES, 'sha512');
  return timingSafeEqual(given, expected) && known !== null;
}

/** @param {string} text @returns {typeof NOBODY | null} */
function readHash(text) {
  const [, kind, count, salt = '', hash = ''] = text.split('$');
  const iterations = Number(count);
  const expected = Buffer.from(hash, 'base64');
  if (kind !== KIND || !(iterations > 0) || expected.length !== HASH_BYTES) return null;
  return { iterations, salt: Buffer.from(salt, 'base64'), expected };
}
