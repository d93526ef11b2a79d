import { MillraceError } from '../../../common/errors.ts';
import { onNode, type Step } from '../plan.ts';
import { command } from './shell.ts';

/** This file on every node holds the credentials of the object store, so no command line contains them. */
const SETTINGS = '/etc/medusa/medusa.ini';

/** Regular expressions for names in the configuration of Medusa, by the prefix of `--location`. */
const PROVIDERS = { s3: 's3.*', gcs: 'google_storage' } satisfies Record<string, string>;

export const medusa = (...words: string[]): string => command('medusa', ...words);

/**
 * Medusa connects to the other nodes by itself, and each node uses its own configuration file. A bucket on the command line would apply to
 * one node only.
 * @param location `s3:BUCKET` or `gcs:BUCKET`
 * @throws `usage`
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
