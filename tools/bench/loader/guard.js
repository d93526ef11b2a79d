import { isLoopback } from '../../../common/addresses.js';
import { MillraceError } from '../../../common/errors.js';

/** @import { Config } from '../../../common/settings/config.js' */

/**
 * A data set made up belongs on a machine of one's own: it cannot be taken out again.
 *
 * @param {Config['cql']} cql
 * @param {boolean} force
 * @throws {MillraceError} `usage`, naming the addresses
 */
export function checkCluster({ contactPoints }, force) {
  const away = (contactPoints ?? []).filter((address) => !isLoopback(hostOf(address)));
  if (away.length === 0 || force) return;
  throw new MillraceError(
    'usage',
    `CQL_CONTACT_POINTS=${away.join(',')} is not this machine. What is loaded stays until it expires; --force loads it all the same.`,
  );
}

/** @param {string} address `host[:port]`, an IPv6 host in brackets where a port follows */
const hostOf = (address) =>
  /^[^:]*:\d+$/.test(address) ? address.slice(0, address.indexOf(':')) : address.replace(/\]:\d+$/, ']');
