import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { Server as NetServer } from 'node:net';
import type { Server, TlsOptions } from 'node:tls';
import type { Logger } from 'pino';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import type { TlsFiles } from '../../../common/settings/config.ts';
import type { CertificateState } from '../../observability/metrics.ts';

/** Node's default is two minutes. */
const HANDSHAKE_MS = 10_000;

export class OwnCertificate {
  #purpose;
  #files;
  #everyMs;
  #logger;
  #setting;
  #expires;
  /** Empty before the first check, so that the first check loads the files. */
  #loaded = '';
  #problem = '';
  options: TlsOptions;

  /** @throws `bad_settings` */
  constructor({
    purpose,
    files,
    everyMs,
    logger,
  }: {
    purpose: 'http' | 'mqtt';
    files: TlsFiles;
    everyMs: number;
    logger: Logger;
  }) {
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

  get state(): CertificateState {
    return { purpose: this.#purpose, expires: this.#expires, refused: this.#problem !== '' };
  }

  /** Open connections keep their certificate. */
  renewOn(server: Server | NetServer) {
    server.once('listening', () => {
      const timer = setInterval(() => void this.#check(server as Server), this.#everyMs).unref();
      server.once('close', () => clearInterval(timer));
    });
  }

  #logExpiry() {
    const date = new Date(this.#expires * 1000).toISOString();
    if (this.#expires * 1000 < Date.now())
      this.#logger.error({ setting: this.#setting, expires: date }, 'the certificate has expired');
    else this.#logger.info({ setting: this.#setting, expires: date }, 'certificate');
  }

  /** Returns whether the certificate is a new one. */
  async #renew(server: Server): Promise<boolean> {
    const version = await versionOf(this.#files);
    if (version === this.#loaded) return false;
    const { cert, key, ...pair } = readPair(this.#files);
    server.setSecureContext({ ...SECURE, cert, key });
    const isNew = this.#loaded !== '' || pair.expires !== this.#expires;
    this.#loaded = version;
    this.#expires = pair.expires;
    return isNew;
  }

  async #check(server: Server) {
    let reason = '';
    try {
      if (await this.#renew(server)) this.#logExpiry();
    } catch (error) {
      reason = messageOf(error);
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

const SECURE = { minVersion: 'TLSv1.2' } as const;

function readFirst(files: TlsFiles, setting: string) {
  try {
    return readPair(files);
  } catch (error) {
    throw new MillraceError('bad_settings', `${setting}: ${messageOf(error)}`, {
      cause: error,
    });
  }
}

/** The inode counts too, because a link may be moved to another file. */
async function versionOf({ cert, key }: TlsFiles) {
  const states = await Promise.all([stat(cert), stat(key)]);
  return states.map(({ ino, mtimeMs, size }) => `${ino}:${mtimeMs}:${size}`).join(' ');
}

const BLOCK = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

interface Pair {
  /** PEM, with the intermediate certificates */
  cert: Buffer;
  key: Buffer;
  /** epoch seconds at which the first certificate of the chain expires */
  expires: number;
}

/** The message of an error names the file and the problem. */
export function readPair(files: TlsFiles): Pair {
  const [cert, key] = [readFileSync(files.cert), readFileSync(files.key)];
  const chain = certificatesIn(cert, files.cert);
  if (!chain[0]?.checkPrivateKey(privateKeyIn(key, files.key))) {
    throw new Error(`${files.key} is not the key of the certificate in ${files.cert}`);
  }
  return { cert, key, expires: firstEnd(chain) };
}

/** Returns the epoch seconds at which the first certificate in the file expires. */
export const authorityExpires = (path: string): number => firstEnd(certificatesIn(readFileSync(path), path));

function certificatesIn(pem: Buffer, path: string): X509Certificate[] {
  const blocks = pem.toString('latin1').match(BLOCK);
  if (!blocks) throw new Error(`${path} holds no certificate in PEM`);
  try {
    return blocks.map((block) => new X509Certificate(block));
  } catch (error) {
    throw new Error(`${path} holds a broken certificate: ${messageOf(error)}`);
  }
}

function privateKeyIn(pem: Buffer, path: string) {
  try {
    return createPrivateKey(pem);
  } catch {
    // OpenSSL's message may quote the file, so it is not passed on.
    throw new Error(`${path} holds no private key in PEM, or one that is encrypted`);
  }
}

/** Returns epoch seconds. */
const firstEnd = (certificates: X509Certificate[]): number =>
  Math.min(...certificates.map(({ validTo }) => Date.parse(validTo) / 1000));
