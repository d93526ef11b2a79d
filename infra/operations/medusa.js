import { MillraceError } from '../../common/errors.js';
import { command } from './shell.js';

/** Where Medusa looks on every node. What it signs in with at the store is named there, and is on no command line. */
export const MEDUSA_SETTINGS = '/etc/medusa/medusa.ini';

/** How Medusa's settings call a store. @satisfies {Record<string, { title: string, pattern: string }>} */
const PROVIDERS = {
  s3: { title: 'S3', pattern: 's3' },
  gcs: { title: 'Google Cloud Storage', pattern: 'google_storage' },
};

/**
 * @param {string} location `s3:BUCKET` or `gcs:BUCKET`
 * @returns {{ provider: { title: string, pattern: string }, run: (...words: string[]) => string }} `run` is a command of Medusa's on that bucket
 * @throws {MillraceError} `usage`
 */
export function medusa(location) {
  const [store = '', bucket = ''] = location.split(':');
  if (!(store in PROVIDERS) || bucket === '')
    throw new MillraceError('usage', '--location is s3:BUCKET or gcs:BUCKET');
  return {
    provider: PROVIDERS[/** @type {keyof typeof PROVIDERS} */ (store)],
    run: (...words) => command('medusa', '--bucket-name', bucket, ...words),
  };
}
