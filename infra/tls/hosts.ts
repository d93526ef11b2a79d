import { X509Certificate } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { MillraceError } from '../../common/errors.ts';

const DNS_NAME = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9][a-z0-9-]{0,62})*$/i;

/** The hosts of a certificate if `--host` is not given: the names and addresses by which programs reach their own machine. */
export const LOOPBACK_HOSTS = 'localhost,127.0.0.1,::1';

/** @returns in the syntax of OpenSSL's configuration: `DNS:localhost`, `IP:127.0.0.1` @throws `usage` */
export function alternativeNames(list: string): string[] {
  return list
    .split(',')
    .map((host) => host.trim().replace(/^\[(.*)\]$/, '$1'))
    .map((host) => {
      if (isIP(host)) return `IP:${shortest(host)}`;
      if (host.length <= 253 && DNS_NAME.test(host)) return `DNS:${host.toLowerCase()}`;
      throw new MillraceError(
        'usage',
        `--host takes names and addresses, comma-separated; "${host}" is none.`,
      );
    });
}

export const hostList = (names: string[]): string =>
  names.map((name) => name.replace(/^(DNS|IP):/, '')).join(',');

/** @throws {Error} when `pem` has no certificate, or an alternative name is not a host */
export function namesIn(pem: string | Buffer): string[] {
  const names = new X509Certificate(pem).subjectAltName ?? '';
  return alternativeNames(names.replaceAll(/(DNS|IP Address):/g, ''));
}

/** Shortens an IPv6 address to the form that Node.js uses, because OpenSSL prints addresses in full. */
const shortest = (address: string) =>
  isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
