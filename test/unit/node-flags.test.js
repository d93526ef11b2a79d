import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { INGEST_NODE_FLAGS } from '../../common/node-flags.js';

test.each(['package.json', 'Dockerfile', 'docker-compose.yml'])(
  '%s starts ingest with the same flags',
  (file) => {
    const starts = readFileSync(new URL(`../../${file}`, import.meta.url), 'utf8').match(
      /node\W.*\bapi\/index\.js/g,
    );
    expect(starts).toHaveLength(1);
    for (const flag of INGEST_NODE_FLAGS) expect(starts?.[0]).toContain(flag);
  },
);
