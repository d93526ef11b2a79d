import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { HTTP_NODE_FLAGS, INGEST_NODE_FLAGS } from '../../../common/node-flags.js';

/** The lines of a file that start an API process. @param {string} file */
const startsIn = (file) =>
  readFileSync(new URL(`../../../${file}`, import.meta.url), 'utf8').match(/^.*node\W.*\bapi\/index\.js/gm) ??
  [];

/** A line of the compose file has no ROLE, which is for another test: there the flags do. @param {string} line */
const servesReaders = (line) =>
  line.includes('ROLE=http') || HTTP_NODE_FLAGS.every((flag) => line.includes(`${flag},`));

test.each(['package.json', 'Dockerfile', 'docker-compose.yml'])(
  '%s starts ingest with the same flags',
  (file) => {
    const starts = startsIn(file).filter((line) => !servesReaders(line));
    expect(starts).toHaveLength(1);
    for (const flag of INGEST_NODE_FLAGS) expect(starts[0]).toContain(flag);
  },
);

test.each(['package.json', 'docker-compose.yml'])(
  '%s starts who only serves readers with flags of its own',
  (file) => {
    const starts = startsIn(file).filter(servesReaders);
    expect(starts).toHaveLength(1);
    for (const flag of HTTP_NODE_FLAGS) expect(starts[0]).toContain(flag);
  },
);
