import { randomBytes } from 'node:crypto';
import { appendFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from '../../common/errors.ts';
import { alternativeNames, hostList, LOOPBACK_HOSTS } from './hosts.ts';
import type { Openssl } from './openssl.ts';
import { hasBoth, moveBoth, namesBefore, refuseOverwriting } from './pair.ts';
import { AUTHORITY, configuration } from './request.ts';

const DAY_SECONDS = 86_400;
/** Validity of the authority in days: ten years, because a person must install a new authority in each client. */
const AUTHORITY_DAYS = 3650;
/** Validity of a certificate in days. Browsers refuse a certificate that is valid for more than 398 days. */
const CERTIFICATE_DAYS = 365;

const NEW_KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/**
 * Makes an authority for development, unless the directory has one, and a certificate that this authority signs. The files are `ca.pem`,
 * `ca.key`, `NAME.pem` and `NAME.key`. Keys are EC P-256, and only their owner can read them (0600).
 * @returns `hosts`: the hosts of the certificate, comma-separated
 * @throws `usage`, `failed` when the certificate exists already, or the authority expires too soon
 */
export async function makeCertificates({
  openssl,
  out,
  hosts,
  name,
  renew,
}: {
  openssl: Openssl;
  out: string;
  /** names and addresses, comma-separated; default: the hosts of the renewed certificate, otherwise `LOOPBACK_HOSTS` */
  hosts?: string;
  /** name of the certificate's files, without extension */
  name: string;
  /** true: renews an existing certificate, and keeps the authority */
  renew: boolean;
}): Promise<{ hosts: string; files: { path: string; isNew: boolean }[] }> {
  const wanted = hosts === undefined ? null : alternativeNames(hosts);
  if (name === 'ca' || !/^[\w.-]+$/.test(name)) {
    throw new MillraceError('usage', '--name takes a-z, A-Z, 0-9, _, dots and dashes, and is not "ca".');
  }
  await mkdir(out, { recursive: true });
  const place = (base: string) => ({
    certificate: join(out, `${base}.pem`),
    key: join(out, `${base}.key`),
  });
  const authority = place('ca');
  const own = place(name);
  const before = await namesBefore(own.certificate);
  if (!renew) await refuseOverwriting(own, before, wanted);
  const names = wanted ?? before ?? alternativeNames(LOOPBACK_HOSTS);
  const work = await mkdtemp(join(out, '.making-'));
  try {
    const config = join(work, 'openssl.cnf');
    await writeFile(config, configuration(names));
    const made = { certificate: join(work, 'new.pem'), key: join(work, 'new.key') };
    const isNew = !(await hasBoth(authority));
    if (isNew) {
      await openssl([
        ...['req', '-x509', ...NEW_KEY, '-config', config, '-subj', AUTHORITY],
        ...['-extensions', 'authority'],
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
    // The file also holds the authority, so that the file alone is enough to trust the certificate.
    await appendFile(made.certificate, await readFile(authority.certificate));
    await moveBoth(made, own);
    const files = [
      { path: authority.certificate, isNew },
      { path: own.certificate, isNew: true },
      { path: own.key, isNew: true },
    ];
    return { hosts: hostList(names), files };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

/** Positive, and too long to occur twice. */
const serial = () => `0x40${randomBytes(15).toString('hex')}`;

async function checkLasts(openssl: Openssl, path: string) {
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
