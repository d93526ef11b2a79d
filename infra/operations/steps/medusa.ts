import { MillraceError } from '../../../common/errors.js';
import { onNode } from '../plan.js';
import { command } from './shell.js';

/** @import { Step } from '../plan.js' */

/** The configuration file of Medusa on every node. It holds the credentials of the object store, so no command line contains them. */
const SETTINGS = '/etc/medusa/medusa.ini';

/**
 * Regular expressions for the name of an object store in Medusa's configuration, by the prefix of `--location`.
 *
 * @satisfies {Record<string, string>}
 */
const PROVIDERS = { s3: 's3.*', gcs: 'google_storage' };

/** @param {...string} words @returns {string} a command of Medusa */
export const medusa = (...words) => command('medusa', ...words);

/**
 * Returns steps that check where each node stores its backups. Medusa connects to the other nodes by itself, and each node uses its own
 * configuration file. A bucket on the command line would apply to one node only.
 *
 * @param {string[]} nodes
 * @param {string} location `s3:BUCKET` or `gcs:BUCKET`
 * @returns {Step[]} steps that fail if a node stores its backups in another place
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
