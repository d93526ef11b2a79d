import { X509Certificate } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from '@jest/globals';
import { authorityExpires, readPair } from '../../../../api/access/tls/certificate-reload.ts';
import { findOpenssl } from '../../../../infra/tls/openssl.ts';
import { useDirectory } from '../../../support/directory.ts';

const folder = useDirectory('pem');
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  const openssl = await findOpenssl();
  for (const [name, days] of [
    ['leaf', '300'],
    ['issuer', '1'],
  ]) {
    const key = [
      '-newkey',
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-256',
      '-nodes',
      '-keyout',
      at(`${name}.key`),
    ];
    await openssl([
      'req',
      '-x509',
      ...key,
      '-subj',
      `/CN=${name}`,
      '-days',
      `${days}`,
      '-out',
      at(`${name}.pem`),
    ]);
  }
  for (const [file, first, second] of [
    ['chain.pem', 'leaf', 'issuer'],
    ['turned.pem', 'issuer', 'leaf'],
  ]) {
    writeFileSync(
      at(`${file}`),
      [first, second].map((name) => readFileSync(at(`${name}.pem`), 'utf8')).join('\n'),
    );
  }
});

/** @returns epoch seconds */
const endOf = (name: string): number =>
  Date.parse(new X509Certificate(readFileSync(at(`${name}.pem`))).validTo) / 1000;

test('PEM file: certificate chain: the reported expiry time is that of the certificate that expires first', () => {
  expect(endOf('issuer')).toBeLessThan(endOf('leaf'));
  expect(readPair({ cert: at('leaf.pem'), key: at('leaf.key') }).expires).toBe(endOf('leaf'));
  expect(readPair({ cert: at('chain.pem'), key: at('leaf.key') }).expires).toBe(endOf('issuer'));
  expect(authorityExpires(at('chain.pem'))).toBe(endOf('issuer'));
});

test('PEM files: the private key does not belong to the first certificate of the chain: an error names the key file', () => {
  expect(() => readPair({ cert: at('turned.pem'), key: at('leaf.key') })).toThrow(
    'leaf.key is not the key of the certificate in',
  );
});
