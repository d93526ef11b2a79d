import { relative } from 'node:path';
import { addresses } from '../../common/addresses.js';

/** @import { Config } from '../../common/settings/config.js' */

/**
 * Returns the text that `npm run dev` prints when everything runs: addresses and data directory.
 *
 * @param {Config} config
 * @param {{ root: string, contactPoints: string, kafka: string | null, manual: boolean }} where
 */
export function welcome(config, { root, contactPoints, kafka, manual }) {
  const { dashboard, broker } = addresses(config);
  return `
  Dashboard   ${dashboard}
  Manual      ${manual ? `${dashboard}docs/` : 'not built (--no-manual)'}

  MQTT        ${hidePassword(broker)}
  CQL         ${contactPoints}, keyspace ${config.cql.keyspace}
${kafka ? `  Kafka       ${kafka}, topics ${config.stream.prefix}.*\n` : ''}  Data, logs  ${shownPath(root, config.dataDir)}
  Ctrl-C stops everything; the data stays.
`;
}

/** @param {string} url @returns {string} the URL without its password */
const hidePassword = (url) => url.replace(/\/\/[^@/]*@/, '//');

/** @param {string} root @param {string} path absolute @returns {string} a relative path inside the repository, otherwise the absolute path */
export function shownPath(root, path) {
  const short = relative(root, path);
  return short === '' || short.startsWith('..') ? path : short;
}
