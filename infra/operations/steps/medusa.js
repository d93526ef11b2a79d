import { MillraceError } from '../../../common/errors.js';
import { onNode } from '../plan.js';
import { command } from './shell.js';

/** @import { Step } from '../plan.js' */

/** Settings of Medusa on every node. They hold its credentials for the store, so these are on no command line. */
const SETTINGS = '/etc/medusa/medusa.ini';

/** The names of the stores in Medusa's settings, as regular expressions. @satisfies {Record<string, string>} */
const PROVIDERS = { s3: 's3.*', gcs: 'google_storage' };

/** @param {...string} words @returns {string} a command of Medusa's */
export const medusa = (...words) => command('medusa', ...words);

/**
 * Medusa connects to the other nodes by itself, and each node has its own settings there. A bucket on the command line would apply to
 * one node only.
 *
 * @param {string[]} nodes
 * @param {string} location `s3:BUCKET` or `gcs:BUCKET`
 * @returns {Step[]} fail where a node stores to another place
 * @throws {MillraceError} `usage`
 */
export function storesTo(nodes, location) {
  const [store = '', bucket = ''] = location.split(':');
  if (!(store in PROVIDERS) || bucket === '')
    throw new MillraceError('usage', '--location is s3:BUCKET or gcs:BUCKET');
  const provider = PROVIDERS[/** @type {keyof typeof PROVIDERS} */ (store)];
  const hasLine = (/** @type {string} */ line) => `grep -qx "${line}" ${SETTINGS}`;
  const script = `${hasLine(`storage_provider *= *${provider}`)} && ${hasLine(`bucket_name *= *${bucket}`)}`;
  return nodes.map((node) => onNode(node, `its Medusa stores to ${location}`, script));
}
