import { chmod, readFile, rename, stat } from 'node:fs/promises';
import { MillraceError } from '../../common/errors.js';
import { hostList, namesIn } from './hosts.js';

/** @typedef {{ certificate: string, key: string }} Pair paths */

/** @param {string} path */
const fileExists = (path) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** Returns whether the certificate and its key exist. Throws if only one of the two files exists. @param {Pair} pair */
export async function hasBoth({ certificate, key }) {
  const [hasCertificate, hasKey] = [await fileExists(certificate), await fileExists(key)];
  if (hasCertificate === hasKey) return hasKey;
  const [there, missing] = hasKey ? [key, certificate] : [certificate, key];
  throw new MillraceError(
    'failed',
    `${there} is there, and ${missing} is not: put it back, or choose another --out.`,
  );
}

/** @param {string} path @returns {Promise<string[] | null>} hosts of the existing certificate; null: it is missing or damaged */
export async function namesBefore(path) {
  try {
    return namesIn(await readFile(path));
  } catch {
    return null;
  }
}

/**
 * Throws if the certificate or its key exists already.
 *
 * @param {Pair} pair
 * @param {string[] | null} before the names of the existing certificate; null: the certificate is missing or damaged
 * @param {string[] | null} wanted the requested names; null: no names were requested
 */
export async function refuseOverwriting({ certificate, key }, before, wanted) {
  for (const path of [certificate, key]) {
    if (!(await fileExists(path))) continue;
    const missing = wanted?.filter((name) => !before?.includes(name)) ?? [];
    if (!before || missing.length === 0) {
      throw new MillraceError('failed', `${path} is there already, and stays; --renew replaces it.`);
    }
    const all = hostList([...before, ...missing]);
    throw new MillraceError(
      'failed',
      `${path} is there already, and is not for ${hostList(missing)}; --renew --host ${all} replaces it for all of them.`,
    );
  }
}

/** @param {Pair} from @param {Pair} to */
export async function moveBoth(from, to) {
  await chmod(from.key, 0o600);
  await chmod(from.certificate, 0o644);
  await rename(from.key, to.key);
  await rename(from.certificate, to.certificate);
}
