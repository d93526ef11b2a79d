import { readSettings } from '../../../common/settings/index.ts';

/** Any file that can be read. */
export const CA = 'package.json';

/**
 * @param settings from the outputs of a module
 * @param others further settings
 * @returns the CQL settings as the application reads them, with a password. It refuses to send the password without TLS
 */
export const readCqlSettings = (settings: Record<string, string>, others: Record<string, string> = {}) =>
  readSettings({ ...settings, CQL_PASSWORD: 'secret', ...others }, { envFile: '' }).cql;
