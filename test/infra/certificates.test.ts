import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import { emptyDataDir, MARKER } from '../../common/data-dir.ts';
import { KEPT_FOLDERS } from '../../infra/dev/prepare.ts';
import { makeCertificates } from '../../infra/tls/certificates.ts';
import { findOpenssl, type Openssl } from '../../infra/tls/openssl.ts';
import { useDirectory } from '../support/directory.ts';

const SCRIPT = fileURLToPath(new URL('../../infra/tls/index.ts', import.meta.url));
const DAY_MS = 86_400_000;

const folder = useDirectory('certificates');
let openssl: Openssl;
beforeAll(async () => {
  openssl = await findOpenssl();
});

const make = (
  out: string,
  { hosts, name = 'server', renew = false }: { hosts?: string; name?: string; renew?: boolean } = {},
) => makeCertificates({ openssl, out: join(folder, out), hosts, name, renew });

const read = (path: string) => readFileSync(join(folder, path), 'utf8');

const certificate = (path: string) => new X509Certificate(read(path));

test('TLS certificate: a certificate is created: OpenSSL accepts the certificate for each of its hosts, for one year', async () => {
  await make('valid', { hosts: 'broker.example, *.lab.example,127.0.0.1,[::1]' });
  const [ca, server] = [join(folder, 'valid/ca.pem'), join(folder, 'valid/server.pem')];
  for (const host of [
    '-verify_hostname broker.example',
    '-verify_hostname a.lab.example',
    '-verify_ip ::1',
  ]) {
    await openssl([
      'verify',
      '-purpose',
      'sslserver',
      '-x509_strict',
      '-CAfile',
      ca,
      ...host.split(' '),
      server,
    ]);
  }
  const wrong = openssl(['verify', '-CAfile', ca, '-verify_hostname', 'other.example', server]);
  await expect(wrong).rejects.toThrow(/hostname mismatch/i);

  const { validFrom, validTo, publicKey } = certificate('valid/server.pem');
  // OpenSSL reads the clock separately for each of the two times.
  expect((Date.parse(validTo) - Date.parse(validFrom)) / DAY_MS).toBeCloseTo(365, 2);
  expect(publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
  expect(statSync(join(folder, 'valid/server.key')).mode & 0o777).toBe(0o600);
  expect(statSync(join(folder, 'valid/ca.key')).mode & 0o777).toBe(0o600);
});

test('TLS certificate: the file exists already: an error without --renew; --renew replaces the certificate under the same authority', async () => {
  await make('again');
  const before = {
    ca: read('again/ca.pem'),
    server: read('again/server.pem'),
    key: read('again/server.key'),
  };
  await expect(make('again')).rejects.toThrow(/server\.pem is there already, and stays; --renew/);
  expect(read('again/server.pem')).toBe(before.server);

  await make('again', { renew: true });
  expect(read('again/ca.pem')).toBe(before.ca);
  expect(read('again/server.pem')).not.toBe(before.server);
  expect(read('again/server.key')).not.toBe(before.key);
  expect(certificate('again/server.pem').verify(certificate('again/ca.pem').publicKey)).toBe(true);
});

test('TLS certificate: --renew without --host: the new certificate has the hosts of the replaced certificate', async () => {
  await make('names', { hosts: 'a.example,10.0.0.7,[2001:db8::1]' });
  const { hosts } = await make('names', { renew: true });
  expect(hosts).toBe('a.example,10.0.0.7,2001:db8::1');
  const { subjectAltName } = certificate('names/server.pem');
  expect(subjectAltName).toBe('DNS:a.example, IP Address:10.0.0.7, IP Address:2001:DB8:0:0:0:0:0:1');
  // Hosts of the command replace the hosts of the old certificate.
  expect((await make('names', { renew: true, hosts: 'b.example' })).hosts).toBe('b.example');
});

test('TLS certificate: the existing certificate lacks a wanted host: the error names the host and the command that replaces the certificate', async () => {
  await make('lacks', { hosts: 'A.example,::1' });
  await expect(make('lacks', { hosts: 'a.example,b.example' })).rejects.toThrow(
    /is not for b\.example; --renew --host a\.example,::1,b\.example replaces/,
  );
  await expect(make('lacks', { hosts: '0:0::1' })).rejects.toThrow(/stays; --renew replaces it/);
});

test.each(['a b', '', 'localhost,', '-x', 'a/b', 'a\nsubjectAltName = DNS:b', '127.0.0.1:80'])(
  'TLS certificate: host name %j: a usage error',
  async (hosts) => {
    await expect(make('none', { hosts })).rejects.toMatchObject({ code: 'usage' });
  },
);

test('npm run certificates: no --out, and DATA_DIR does not exist: creates a DATA_DIR that --fresh may empty', async () => {
  const dataDir = join(folder, 'first');
  const env = { ...process.env, DATA_DIR: dataDir };
  expect(spawnSync(process.execPath, [SCRIPT], { cwd: folder, env }).status).toBe(0);
  await emptyDataDir(dataDir, KEPT_FOLDERS);
  expect(readdirSync(dataDir).sort()).toEqual([MARKER, 'tls']);
});
