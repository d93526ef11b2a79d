import { readSettings } from '../../../common/settings/index.js';

/** Any file that can be read. */
export const CA = 'package.json';

/**
 * @param {Record<string, string>} settings as they were put out
 * @param {Record<string, string>} [more]
 * @returns what the application makes of them, with a password: it refuses to send that where others may read it
 */
export const taken = (settings, more = {}) =>
  readSettings({ ...settings, CQL_PASSWORD: 'secret', ...more }, { envFile: '' }).cql;
