import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { MillraceError } from '../../../common/errors.js';

/** @import { Server as NetServer } from 'node:net' */
/** @import { Server, TlsOptions } from 'node:tls' */
/** @import { Logger } from 'pino' */
/** @import { TlsFiles } from '../../../common/settings/config.js' */
/** @import { CertificateState } from '../../observability/metrics.js' */

/** Whoever connects and then says nothing is let go after this long, in ms. Node's own limit is two minutes. */
const HANDSHAKE_MS = 10_000;

/**
 * The certificate that one of our servers shows, taken anew from its files while the server runs.
 *
 * @typedef {object} OwnCertificate
 * @property {CertificateState} state
 * @property {TlsOptions} options of the server
 * @property {(server: Server | NetServer) => void} renewOn gives new ones to a server
 *   from its start to its end; connections that stand keep the one before
 */

/**
 * @param {object} parts
 * @param {'http' | 'mqtt'} parts.purpose
 * @param {TlsFiles} parts.files
 * @param {number} parts.everyMs how often the files are looked at
 * @param {Logger} parts.logger
 * @returns {OwnCertificate}
 * @throws {MillraceError} `bad_settings`
 */
export function createOwnCertificate({ purpose, files, everyMs, logger }) {
  const setting = `${purpose.toUpperCase()}_TLS_CERT`;
  const first = readFirst(files, setting);
  let { expires } = first;
  /** What the files were when they were last taken: nothing, so that the first look takes them. */
  let taken = '';
  let trouble = '';

  function tell() {
    const at = new Date(expires * 1000).toISOString();
    if (expires * 1000 < Date.now()) logger.error({ setting, expires: at }, 'the certificate has expired');
    else logger.info({ setting, expires: at }, 'certificate');
  }

  /** @param {Server} server @returns {Promise<boolean>} whether there was another one */
  async function renew(server) {
    const now = await stateOf(files);
    if (now === taken) return false;
    const { cert, key, ...pair } = readPair(files);
    server.setSecureContext({ ...SECURE, cert, key });
    const isAnother = taken !== '' || pair.expires !== expires;
    taken = now;
    expires = pair.expires;
    return isAnother;
  }

  /** @param {Server} server */
  async function look(server) {
    let reason = '';
    try {
      if (await renew(server)) tell();
    } catch (error) {
      reason = /** @type {Error} */ (error).message;
      // Tried again at every look, since certificate and key change one after the other; but said once.
      if (reason !== trouble)
        logger.error({ setting, reason }, 'a new certificate cannot be used; the old one stays');
    }
    trouble = reason;
  }

  tell();
  return {
    get state() {
      return { purpose, expires, refused: trouble !== '' };
    },

    options: { ...SECURE, handshakeTimeout: HANDSHAKE_MS, cert: first.cert, key: first.key },

    renewOn(server) {
      server.once('listening', () => {
        const again = () => void look(/** @type {Server} */ (server));
        const timer = setInterval(again, everyMs).unref();
        server.once('close', () => clearInterval(timer));
      });
    },
  };
}

const SECURE = /** @type {const} */ ({ minVersion: 'TLSv1.2' });

/** @param {TlsFiles} files @param {string} setting */
function readFirst(files, setting) {
  try {
    return readPair(files);
  } catch (error) {
    throw new MillraceError('bad_settings', `${setting}: ${/** @type {Error} */ (error).message}`, {
      cause: error,
    });
  }
}

/** By the file as well as its time: a link may be put on another one. @param {TlsFiles} files */
async function stateOf({ cert, key }) {
  const states = await Promise.all([stat(cert), stat(key)]);
  return states.map(({ ino, mtimeMs, size }) => `${ino}:${mtimeMs}:${size}`).join(' ');
}

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
 * @param {TlsFiles} files
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
