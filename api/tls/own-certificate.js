import { stat } from 'node:fs/promises';
import { MillraceError } from '../../common/errors.js';
import { readPair } from './pem.js';

/** Whoever connects and then says nothing is let go after this long, in ms. Node's own limit is two minutes. */
const HANDSHAKE_MS = 10_000;

/**
 * The certificate that one of our servers shows, taken anew from its files while the server runs.
 *
 * @typedef {object} OwnCertificate
 * @property {import('./index.js').CertificateState} state
 * @property {import('node:tls').TlsOptions} options of the server
 * @property {(server: import('node:tls').Server | import('node:net').Server) => void} renewOn gives new ones to a server
 *   from its start to its end; connections that stand keep the one before
 */

/**
 * @param {object} parts
 * @param {'http' | 'mqtt'} parts.purpose
 * @param {import('../../common/settings/index.js').TlsFiles} parts.files
 * @param {number} parts.everyMs how often the files are looked at
 * @param {import('pino').Logger} parts.logger
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

  /** @param {import('node:tls').Server} server @returns {Promise<boolean>} whether there was another one */
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

  /** @param {import('node:tls').Server} server */
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
        const again = () => void look(/** @type {import('node:tls').Server} */ (server));
        const timer = setInterval(again, everyMs).unref();
        server.once('close', () => clearInterval(timer));
      });
    },
  };
}

const SECURE = /** @type {const} */ ({ minVersion: 'TLSv1.2' });

/** @param {import('../../common/settings/index.js').TlsFiles} files @param {string} setting */
function readFirst(files, setting) {
  try {
    return readPair(files);
  } catch (error) {
    throw new MillraceError('bad_settings', `${setting}: ${/** @type {Error} */ (error).message}`, {
      cause: error,
    });
  }
}

/** By the file as well as its time: a link may be put on another one. @param {import('../../common/settings/index.js').TlsFiles} files */
async function stateOf({ cert, key }) {
  const states = await Promise.all([stat(cert), stat(key)]);
  return states.map(({ ino, mtimeMs, size }) => `${ino}:${mtimeMs}:${size}`).join(' ');
}
