import { X509Certificate } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { MillraceError } from '../../common/errors.js';

const DNS_NAME = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9][a-z0-9-]{0,62})*$/i;

/** Names and addresses of a development machine for its own programs. */
export const LOOPBACK_HOSTS = 'localhost,127.0.0.1,::1';

/**
 * The hosts that a certificate is for, as its subject alternative names.
 *
 * @param {string} list names and addresses, comma-separated
 * @returns {string[]} as OpenSSL's configuration has them: `DNS:localhost`, `IP:127.0.0.1`
 * @throws {MillraceError} `usage`
 */
export function alternativeNames(list) {
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

/** @param {string[]} names as `alternativeNames` makes them @returns {string} as --host takes them */
export const hostList = (names) => names.map((name) => name.replace(/^(DNS|IP):/, '')).join(',');

/**
 * @param {string | Buffer} pem
 * @returns {string[]} the alternative names of the first certificate in it, as `alternativeNames` makes them
 * @throws {Error} it is none, or for something that is no host
 */
export function namesIn(pem) {
  const names = new X509Certificate(pem).subjectAltName ?? '';
  return alternativeNames(names.replaceAll(/(DNS|IP Address):/g, ''));
}

/** Node's own way of writing addresses, which OpenSSL prints in full. @param {string} address */
const shortest = (address) =>
  isIPv6(address) ? new URL(`http://[${address}]`).hostname.slice(1, -1) : address;
