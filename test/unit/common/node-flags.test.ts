import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { HTTP_NODE_FLAGS, INGEST_NODE_FLAGS } from '../../../common/node-flags.ts';

/** Returns the lines of a file that start an API process. */
const startsIn = (file: string) =>
  readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8').match(
    /^.*node\W.*\bapi\/index\.[jt]s/gm,
  ) ?? [];

/** The compose file sets ROLE on another line, so its line is recognized by the flags. */
const servesReaders = (line: string) =>
  line.includes('ROLE=http') || HTTP_NODE_FLAGS.every((flag) => line.includes(`${flag},`));

test.each(['package.json', 'Dockerfile', 'docker-compose.yml'])(
  'Node.js flags in %s: ingest starts: exactly those of INGEST_NODE_FLAGS',
  (file) => {
    const starts = startsIn(file).filter((line) => !servesReaders(line));
    expect(starts).toHaveLength(1);
    for (const flag of INGEST_NODE_FLAGS) expect(starts[0]).toContain(flag);
  },
);

test.each(['package.json', 'docker-compose.yml'])(
  'Node.js flags in %s: a process with ROLE=http starts: those of HTTP_NODE_FLAGS',
  (file) => {
    const starts = startsIn(file).filter(servesReaders);
    expect(starts).toHaveLength(1);
    for (const flag of HTTP_NODE_FLAGS) expect(starts[0]).toContain(flag);
  },
);
