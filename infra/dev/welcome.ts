import { relative } from 'node:path';
import { addresses } from '../../common/addresses.ts';
import type { Config } from '../../common/settings/config.ts';
import { KAFKA_SETTINGS } from '../../schema/kafka/index.ts';

export function welcome(
  config: Config,
  {
    root,
    contactPoints,
    kafka,
    graph,
    manual,
  }: {
    root: string;
    contactPoints: string;
    kafka: string | null;
    graph: string | null;
    manual: boolean;
  },
) {
  const { dashboard, broker } = addresses(config);
  return `
  Dashboard   ${dashboard}
  Manual      ${manual ? `${dashboard}docs/` : 'not built (--no-manual)'}

  MQTT        ${hidePassword(broker)}
  CQL         ${contactPoints}, keyspace ${config.cql.keyspace}
${kafka ? `  Kafka       ${kafka}, topics ${config.of(KAFKA_SETTINGS).prefix}.*\n` : ''}${graph ? `  JanusGraph  ${graph}: npm run graph -- mirror\n` : ''}  Data, logs  ${shownPath(root, config.dataDir)}
  Ctrl-C stops everything; the data stays.
`;
}

const hidePassword = (url: string): string => url.replace(/\/\/[^@/]*@/, '//');

/** @returns a relative path inside the repository, otherwise the absolute path */
export function shownPath(root: string, path: string): string {
  const short = relative(root, path);
  return short === '' || short.startsWith('..') ? path : short;
}
