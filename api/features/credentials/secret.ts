import { pbkdf2, randomBytes, timingSafeEqual } from 'node:crypto';
import { promisify } from 'node:util';

const derive = promisify(pbkdf2);

const SECRET_BYTES = 32;
const SALT_BYTES = 12;
const HASH_BYTES = 64;

/** Few, as in Mosquitto: nobody can guess 32 random bytes, and a fleet that reconnects at once must not wait. */
const ITERATIONS = 101;

/** Mosquitto's code for PBKDF2 with SHA-512. */
const KIND = '7';

/** Comparing with it takes as long as for an existing account, and never succeeds. */
const NO_ACCOUNT = {
  iterations: ITERATIONS,
  salt: Buffer.alloc(SALT_BYTES),
  expected: Buffer.alloc(HASH_BYTES),
};

export const makeSecret = (): string => randomBytes(SECRET_BYTES).toString('base64url');

/** Returns the format of Mosquitto's password file: `$7$101$salt$hash`. */
export async function hashSecret(secret: string | Buffer): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const hash = await derive(secret, salt, ITERATIONS, HASH_BYTES, 'sha512');
  return `$${KIND}$${ITERATIONS}$${salt.toString('base64')}$${hash.toString('base64')}`;
}

/** The work without a hash is the same, so that the time does not reveal whether the account exists. */
export async function isSecret(secret: string | Buffer, hash: string | null) {
  const known = readHash(hash ?? '');
  const { iterations, salt, expected } = known ?? NO_ACCOUNT;
  const given = await derive(secret, salt, iterations, HASH_BYTES, 'sha512');
  return timingSafeEqual(given, expected) && known !== null;
}

function readHash(text: string): typeof NO_ACCOUNT | null {
  const [, kind, count, salt = '', hash = ''] = text.split('$');
  const iterations = Number(count);
  const expected = Buffer.from(hash, 'base64');
  if (kind !== KIND || !(iterations > 0) || expected.length !== HASH_BYTES) return null;
  return { iterations, salt: Buffer.from(salt, 'base64'), expected };
}
