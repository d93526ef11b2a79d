import { randomBytes } from 'node:crypto';
import { appendFile, chmod, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from '../../common/errors.js';
import { alternativeNames } from './hosts.js';

const DAY_SECONDS = 86_400;
/** Clients have to be given a new authority by hand, so it lasts. */
const AUTHORITY_DAYS = 3650;
/** Longer than what browsers take is refused by them: 398 days. */
const CERTIFICATE_DAYS = 365;

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Whole, so that nothing of the machine's own configuration has a say. @param {string} names */
const configuration = (names) => `\
[req]
prompt = no
distinguished_name = subject
[subject]
O = Millrace
CN = Millrace development
[authority]
basicConstraints = critical, CA:true, pathlen:0
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:false
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
subjectAltName = ${names}
`;

/**
 * Makes an authority for development, unless the directory has one, and a certificate of it for some hosts:
 * `ca.pem`, `ca.key`, `NAME.pem`, `NAME.key`. Keys are EC P-256, for their owner alone (0600).
 *
 * @param {object} options
 * @param {import('./openssl.js').Openssl} options.openssl
 * @param {string} options.out directory, made if it is not there
 * @param {string} options.hosts names and addresses, comma-separated
 * @param {string} options.name of the certificate's files
 * @param {boolean} options.renew makes a certificate that is there anew; the authority stays
 * @returns {Promise<{ path: string, isNew: boolean }[]>}
 * @throws {MillraceError} `usage`, `failed` when the certificate is there already, or the authority ends too soon
 */
export async function makeCertificates({ openssl, out, hosts, name, renew }) {
  const names = alternativeNames(hosts);
  if (name === 'ca' || !/^[\w.-]+$/.test(name)) {
    throw new MillraceError('usage', '--name takes letters, digits, dots and dashes, and is not "ca".');
  }
  await mkdir(out, { recursive: true });
  const place = (/** @type {string} */ base) => ({
    certificate: join(out, `${base}.pem`),
    key: join(out, `${base}.key`),
  });
  const authority = place('ca');
  const own = place(name);
  if (!renew) await refuseOverwriting(own);
  const work = await mkdtemp(join(out, '.making-'));
  try {
    const config = join(work, 'openssl.cnf');
    await writeFile(config, configuration(names));
    const made = { certificate: join(work, 'new.pem'), key: join(work, 'new.key') };
    const isNew = !(await hasBoth(authority));
    if (isNew) {
      await openssl([
        ...['req', '-x509', ...NEW_KEY, '-config', config, '-extensions', 'authority'],
        ...['-days', String(AUTHORITY_DAYS), '-keyout', made.key, '-out', made.certificate],
      ]);
      await moveBoth(made, authority);
    }
    await checkLasts(openssl, authority.certificate);
    const request = join(work, 'request.pem');
    await openssl(['req', '-new', ...NEW_KEY, '-config', config, '-keyout', made.key, '-out', request]);
    await openssl([
      ...['x509', '-req', '-in', request, '-CA', authority.certificate, '-CAkey', authority.key, '-sha256'],
      ...['-set_serial', serial(), '-days', String(CERTIFICATE_DAYS)],
      ...['-extfile', config, '-extensions', 'server', '-out', made.certificate],
    ]);
    // With its authority, so that whoever has the file alone can tell whom to trust.
    await appendFile(made.certificate, await readFile(authority.certificate));
    await moveBoth(made, own);
    return [
      { path: authority.certificate, isNew },
      { path: own.certificate, isNew: true },
      { path: own.key, isNew: true },
    ];
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** @typedef {{ certificate: string, key: string }} Pair paths */

/** Positive, and too long to come twice. */
const serial = () => `0x40${randomBytes(15).toString('hex')}`;

/** @param {string} path */
const isThere = (path) =>
  stat(path).then(
    () => true,
    () => false,
  );

/** @param {Pair} pair */
async function hasBoth({ certificate, key }) {
  const [hasCertificate, hasKey] = [await isThere(certificate), await isThere(key)];
  if (hasCertificate === hasKey) return hasKey;
  const [there, missing] = hasKey ? [key, certificate] : [certificate, key];
  throw new MillraceError(
    'failed',
    `${there} is there, and ${missing} is not: put it back, or choose another --out.`,
  );
}

/** @param {Pair} pair */
async function refuseOverwriting({ certificate, key }) {
  for (const path of [certificate, key]) {
    if (!(await isThere(path))) continue;
    throw new MillraceError('failed', `${path} is there already, and stays; --renew makes it anew.`);
  }
}

/** @param {import('./openssl.js').Openssl} openssl @param {string} path */
async function checkLasts(openssl, path) {
  const lasts = await openssl([
    'x509',
    '-in',
    path,
    '-noout',
    '-checkend',
    String(CERTIFICATE_DAYS * DAY_SECONDS),
  ]).then(
    () => true,
    () => false,
  );
  if (lasts) return;
  throw new MillraceError(
    'failed',
    `${path} cannot be read or ends within a year, before what it would sign: choose another --out, and give its ca.pem to all clients.`,
  );
}

/** @param {Pair} from @param {Pair} to */
async function moveBoth(from, to) {
  await chmod(from.key, 0o600);
  await chmod(from.certificate, 0o644);
  await rename(from.key, to.key);
  await rename(from.certificate, to.certificate);
}
