import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { MillraceError } from '../../../common/errors.js';

/** @import { Server as NetServer } from 'node:net' */
/** @import { Server, TlsOptions } from 'node:tls' */
/** @import { Logger } from 'pino' */
/** @import { TlsFiles } from '../../../common/settings/config.js' */
/** @import { CertificateState } from '../../observability/metrics.js' */

/** A client that does not finish the TLS handshake is disconnected after this time, in ms. Node's default is two minutes. */
const HANDSHAKE_MS = 10_000;

/** The certificate of a server, reloaded from its files while the server runs. */
export class OwnCertificate {
  #purpose;
  #files;
  #everyMs;
  #logger;
  #setting;
  #expires;
  /** Version of the files that are in use; empty before the first check, so that the first check loads the files. */
  #loaded = '';
  #problem = '';
  /** Options of the server. @type {TlsOptions} */
  options;

  /**
   * @param {object} deps
   * @param {'http' | 'mqtt'} deps.purpose
   * @param {TlsFiles} deps.files
   * @param {number} deps.everyMs how often the files are checked
   * @param {Logger} deps.logger
   * @throws {MillraceError} `bad_settings`
   */
  constructor({ purpose, files, everyMs, logger }) {
    this.#purpose = purpose;
    this.#files = files;
    this.#everyMs = everyMs;
    this.#logger = logger;
    this.#setting = `${purpose.toUpperCase()}_TLS_CERT`;
    const { cert, key, expires } = readFirst(files, this.#setting);
    this.#expires = expires;
    this.options = { ...SECURE, handshakeTimeout: HANDSHAKE_MS, cert, key };
    this.#logExpiry();
  }

  /** The state of the certificate for the metrics. @returns {CertificateState} */
  get state() {
    return { purpose: this.#purpose, expires: this.#expires, refused: this.#problem !== '' };
  }

  /**
   * Starts to reload the certificate of a server while the server runs. Open connections keep their certificate.
   *
   * @param {Server | NetServer} server
   */
  renewOn(server) {
    server.once('listening', () => {
      const timer = setInterval(
        () => void this.#check(/** @type {Server} */ (server)),
        this.#everyMs,
      ).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  #logExpiry() {
    const date = new Date(this.#expires * 1000).toISOString();
    if (this.#expires * 1000 < Date.now())
      this.#logger.error({ setting: this.#setting, expires: date }, 'the certificate has expired');
    else this.#logger.info({ setting: this.#setting, expires: date }, 'certificate');
  }

  /** @param {Server} server @returns {Promise<boolean>} whether the certificate is a new one */
  async #renew(server) {
    const version = await versionOf(this.#files);
    if (version === this.#loaded) return false;
    const { cert, key, ...pair } = readPair(this.#files);
    server.setSecureContext({ ...SECURE, cert, key });
    const isNew = this.#loaded !== '' || pair.expires !== this.#expires;
    this.#loaded = version;
    this.#expires = pair.expires;
    return isNew;
  }

  /** @param {Server} server */
  async #check(server) {
    let reason = '';
    try {
      if (await this.#renew(server)) this.#logExpiry();
    } catch (error) {
      reason = /** @type {Error} */ (error).message;
      // Certificate and key are replaced one after the other, so a check may fail in between and the next check tries again.
      // Each problem is logged once.
      if (reason !== this.#problem)
        this.#logger.error(
          { setting: this.#setting, reason },
          'a new certificate cannot be used; the old one stays',
        );
    }
    this.#problem = reason;
  }
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

/** Identifies the content of the files. It includes the inode, because a link may be moved to another file. @param {TlsFiles} files */
async function versionOf({ cert, key }) {
  const states = await Promise.all([stat(cert), stat(key)]);
  return states.map(({ ino, mtimeMs, size }) => `${ino}:${mtimeMs}:${size}`).join(' ');
}

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/**
 * A certificate and its key.
 *
 * @typedef {object} Pair
 * @property {Buffer} cert PEM, with the intermediate certificates
 * @property {Buffer} key PEM
 * @property {number} expires epoch seconds at which the first certificate expires
 */

/**
 * @param {TlsFiles} files
 * @returns {Pair}
 * @throws {Error} whose message names the file and the problem
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
 * @param {string} path path of a file with the certificates of authorities
 * @returns {number} epoch seconds at which the first certificate in the file expires
 * @throws {Error} whose message names the file
 */
export const authorityExpires = (path) => firstEnd(certificatesIn(readFileSync(path), path));

/** @param {Buffer} pem @param {string} path @returns {X509Certificate[]} at least one certificate */
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
    // OpenSSL's message may quote the file, so it is not passed on.
    throw new Error(`${path} holds no private key in PEM, or one that is encrypted`);
  }
}

/** @param {X509Certificate[]} certificates @returns {number} epoch seconds */
const firstEnd = (certificates) => Math.min(...certificates.map(({ validTo }) => Date.parse(validTo) / 1000));
