import { readSettings } from '../../../common/settings/index.js';

/** Any file that can be read. */
export const CA = 'package.json';

/**
 * @param {Record<string, string>} settings from the outputs of a module
 * @param {Record<string, string>} [others] further settings
 * @returns the CQL settings as the application reads them, with a password. It refuses to send the password without TLS
 */
export const readCqlSettings = (settings, others = {}) =>
  readSettings({ ...settings, CQL_PASSWORD: 'secret', ...others }, { envFile: '' }).cql;
