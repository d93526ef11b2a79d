import { expect, test } from '@jest/globals';
import { serverProperties } from '../../../../infra/kafka/server-properties.ts';

/** @returns the line `log.dirs` of the configuration */
const folderLine = (dir: string): string | undefined =>
  serverProperties({ dir, port: 9092, controller: 9093 })
    .split('\n')
    .find((line) => line.startsWith('log.dirs='));

test.each([
  ['a space', '/srv/my data', 'log.dirs=/srv/my data/data'],
  ['an umlaut', '/srv/größe', String.raw`log.dirs=/srv/gr\u00f6\u00dfe/data`],
  ['a character of two code units', '/srv/𝄞', String.raw`log.dirs=/srv/\ud834\udd1e/data`],
  ['a backslash', String.raw`/srv/a\b`, String.raw`log.dirs=/srv/a\\b/data`],
])('Local Kafka: the data directory has %s: Java reads the same path', (_, dir, line) => {
  expect(folderLine(dir)).toBe(line);
});

test('Local Kafka: the data directory has a comma, which separates directories in log.dirs: refused', () => {
  expect(() => folderLine('/srv/a,b')).toThrow('Choose a DATA_DIR without a comma.');
});
