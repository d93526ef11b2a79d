import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * A certificate and its key that belong together.
 *
 * @typedef {object} Pair
 * @property {Buffer} cert PEM, with those between it and the authority
 * @property {Buffer} key PEM
 * @property {number} expires epoch seconds: when the first of them ends
 */

/**
 * @param {import('../../common/settings/index.js').TlsFiles} files
 * @returns {Pair}
 * @throws {Error} whose message says what is wrong with which file
 */
export function readPair(files) {
  const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)];
  const chain = certificatesIn(cert, files.cert);
  if (!chain[0]?.checkPrivateKey(privateKeyIn(key, files.key))) {
    throw new Error(`${files.key} is not the key of the certificate in ${files.cert}`);
  }
  return { cert, key, expires: firstEnd(chain) };
}

/**
 * @param {string} path of a file with the certificates of authorities
 * @returns {number} when the first of them ends, epoch seconds
 * @throws {Error} whose message names the file
 */
export const authorityExpires = (path) => firstEnd(certificatesIn(readFileSync(path), path));

/** @param {Buffer} pem @param {string} path @returns {X509Certificate[]} one at least */
function certificatesIn(pem, path) {
  const blocks = pem.toString('latin1').match(BLOCK);
  if (!blocks) throw new Error(`${path} holds no certificate in PEM`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw new Error(`${path} holds a broken certificate: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {Buffer} pem @param {string} path */
function privateKeyIn(pem, path) {
  try {
    return createPrivateKey(pem);
  } catch {
    // What OpenSSL says of it may quote the file.
    throw new Error(`${path} holds no private key in PEM, or one that is encrypted`);
  }
}

/** @param {X509Certificate[]} certificates @returns {number} epoch seconds */
const firstEnd = (certificates) => Math.min(...certificates.map(({ validTo }) => Date.parse(validTo) / 1000));
