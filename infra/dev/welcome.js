import { relative } from 'node:path';
import { addresses } from './settings.js';

/**
 * What a person wants to know when everything runs.
 *
 * @param {import('../../common/settings.js').Config} config
 * @param {{ root: string, contactPoints: string }} where
 */
export function welcome(config, { root, contactPoints }) {
  const { dashboard, broker } = addresses(config);
  const dataDir = relative(root, config.dataDir) || '.';
  return `
  Dashboard   ${dashboard}

  MQTT        ${hidePassword(broker)}
  CQL         ${contactPoints}, keyspace ${config.cql.keyspace}
  Data, logs  ${dataDir.startsWith('..') ? config.dataDir : dataDir}
  Ctrl-C stops everything; the data stays.
`;
}

/** @param {string} url @returns {string} fit to be shown */
const hidePassword = (url) => url.replace(/\/\/[^@/]*@/, '//');
