import { isIP } from 'node:net';
import { MillraceError } from '../../common/errors.js';

const DNS_NAME = /^(\*\.)?[a-z0-9]([a-z0-9-]{0,62})(\.[a-z0-9][a-z0-9-]{0,62})*$/i;

/**
 * The hosts that a certificate is for, as its subject alternative names.
 *
 * @param {string} list names and addresses, comma-separated
 * @returns {string} as OpenSSL's configuration has it: `DNS:localhost,IP:127.0.0.1`
 * @throws {MillraceError} `usage`
 */
export function alternativeNames(list) {
  return list
    .split(',')
    .map((host) => host.trim().replace(/^\[(.*)\]$/, '$1'))
    .map((host) => {
      if (isIP(host)) return `IP:${host}`;
      if (host.length <= 253 && DNS_NAME.test(host)) return `DNS:${host}`;
      throw new MillraceError(
        'usage',
        `--host takes names and addresses, comma-separated; "${host}" is none.`,
      );
    })
    .join(',');
}
