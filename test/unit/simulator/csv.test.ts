import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseNumber } from '../../../simulator/replay/cells.ts';
import { readBatches } from '../../../simulator/replay/samples.ts';
import { surveyFile } from '../../../simulator/replay/survey.ts';
import { useDirectory } from '../../support/directory.ts';

const directory = useDirectory('csv');

function file(text: string): string {
  const path = join(directory, 'data.csv');
  writeFileSync(path, text);
  return path;
}

test.each([
  ['4.0', 4],
  ['-1e3', -1000],
  ['.5', 0.5],
  ['NaN', null],
  ['0x10', null],
  ['1,5', null],
  ['1e999', null],
  ['', null],
])('CSV replay: number cell %p: read as %p', (cell, expected) => expect(parseNumber(cell)).toBe(expected));

test.each([
  ['only a header', 'a,b\n', /no rows/],
  ['no bytes', '', /no rows/],
  ['no time column', 'a,b\n1,2\n', /no time column among a, b/],
  ['no number column', 'at,b\n2020-01-01,x\n', /no column of numbers/],
  ['two columns of one name', 'at,b,b\n2020-01-01,1,2\n', /name of its own/],
])('CSV replay: a file with %s: a usage error names the problem', async (_, text, message) => {
  await expect(surveyFile(file(text))).rejects.toMatchObject({
    code: 'usage',
    message: expect.stringMatching(message),
  });
});

test('CSV replay: a file with unusable rows and cells: usable rows become batches, and unusable ones are counted', async () => {
  const path = file(
    '\uFEFFat,a,b\n2020-01-01T00:00:00,1,2\n2020-01-01T00:00:01,,x\n,7,7\n2020-01-01T00:00:01,5,6\n2020-01-01T00:00:02,3\n',
  );
  const survey = await surveyFile(path);
  const skipped = { empty: 0, unreadable: 0, untimed: 0, colliding: 0 };
  const batches = [];
  for await (const batch of readBatches(path, survey, {
    timeline: (ts) => ts - Date.UTC(2020, 0, 1),
    rowsPerBatch: 2,
    skipped,
  })) {
    batches.push(batch);
  }
  expect(batches).toEqual([
    [
      { name: 'a', samples: [{ ts: 0, value: 1 }] },
      { name: 'b', samples: [{ ts: 0, value: 2 }] },
    ],
    [
      {
        name: 'a',
        samples: [
          { ts: 1000, value: 5 },
          { ts: 2000, value: 3 },
        ],
      },
      { name: 'b', samples: [{ ts: 1000, value: 6 }] },
    ],
  ]);
  expect(skipped).toEqual({ empty: 2, unreadable: 1, untimed: 1, colliding: 1 });
});
