import { MillraceError } from '../../../common/errors.ts';
import { onNode, type Step } from '../plan.ts';
import { command } from './shell.ts';

/** The configuration file of Medusa on every node. It holds the credentials of the object store, so no command line contains them. */
const SETTINGS = '/etc/medusa/medusa.ini';

/**
 * Regular expressions for the name of an object store in Medusa's configuration, by the prefix of `--location`.
 */
const PROVIDERS = { s3: 's3.*', gcs: 'google_storage' } satisfies Record<string, string>;

/** @returns a command of Medusa */
export const medusa = (...words: string[]): string => command('medusa', ...words);

/**
 * Returns steps that check where each node stores its backups. Medusa connects to the other nodes by itself, and each node uses its own
 * configuration file. A bucket on the command line would apply to one node only.
 * @param location `s3:BUCKET` or `gcs:BUCKET`
 * @returns steps that fail if a node stores its backups in another place
 * @throws {MillraceError} `usage`
 */
export function storesTo(nodes: string[], location: string): Step[] {
  const [store = '', bucket = ''] = location.split(':');
  if (!(store in PROVIDERS) || bucket === '')
    throw new MillraceError('usage', '--location is s3:BUCKET or gcs:BUCKET');
  const provider = PROVIDERS[store as keyof typeof PROVIDERS];
  const hasLine = (line: string) => `grep -qx "${line}" ${SETTINGS}`;
  const script = `${hasLine(`storage_provider *= *${provider}`)} && ${hasLine(`bucket_name *= *${bucket}`)}`;
  return nodes.map((node) => onNode(node, `its Medusa stores to ${location}`, script));
}
