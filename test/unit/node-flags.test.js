import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { INGEST_NODE_FLAGS } from '../../common/node-flags.js';

test.each(['package.json', 'Dockerfile', 'docker-compose.yml'])(
  '%s starts ingest with the same flags',
  (file) => {
    const text = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8');
    // Who only serves readers has no use for them.
    const starts = text.match(/^.*node\W.*\bapi\/index\.js/gm)?.filter((line) => !line.includes('ROLE=http'));
    expect(starts).toHaveLength(1);
    for (const flag of INGEST_NODE_FLAGS) expect(starts?.[0]).toContain(flag);
  },
);
