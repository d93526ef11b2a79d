import { relative } from 'node:path';
import { addresses } from '../../common/addresses.js';

/** @import { Config } from '../../common/settings/config.js' */

/**
 * Text for a person when everything runs: addresses and data directory.
 *
 * @param {Config} config
 * @param {{ root: string, contactPoints: string }} where
 */
export function welcome(config, { root, contactPoints }) {
  const { dashboard, broker } = addresses(config);
  return `
  Dashboard   ${dashboard}
  Manual      ${dashboard}docs/

  MQTT        ${hidePassword(broker)}
  CQL         ${contactPoints}, keyspace ${config.cql.keyspace}
  Data, logs  ${shownPath(root, config.dataDir)}
  Ctrl-C stops everything; the data stays.
`;
}

/** @param {string} url @returns {string} fit to be shown */
const hidePassword = (url) => url.replace(/\/\/[^@/]*@/, '//');

/** @param {string} root @param {string} path absolute @returns {string} short where it is inside the repository */
export function shownPath(root, path) {
  const short = relative(root, path);
  return short === '' || short.startsWith('..') ? path : short;
}
