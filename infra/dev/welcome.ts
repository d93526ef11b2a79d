import { relative } from 'node:path';
import { addresses } from '../../common/addresses.ts';
import type { Config } from '../../common/settings/config.ts';

/** Returns the text that `npm run dev` prints when everything runs: addresses and data directory. */
export function welcome(
  config: Config,
  {
    root,
    contactPoints,
    kafka,
    manual,
  }: { root: string; contactPoints: string; kafka: string | null; manual: boolean },
) {
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

/** @returns the URL without its password */
const hidePassword = (url: string): string => url.replace(/\/\/[^@/]*@/, '//');

/** @param path absolute @returns a relative path inside the repository, otherwise the absolute path */
export function shownPath(root: string, path: string): string {
  const short = relative(root, path);
  return short === '' || short.startsWith('..') ? path : short;
}
