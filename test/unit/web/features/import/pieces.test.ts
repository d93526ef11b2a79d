import { expect, test } from '@jest/globals';
import { inUtf8, piecesOf } from '../../../../../web/features/import/pieces.ts';

async function cut(text: string, type: string, bytes: number, options: Record<string, string> = {}) {
  const pieces = [];
  for await (const { body, end, lines } of piecesOf(new Blob([text]), type, bytes, options))
    pieces.push({ text: await body.text(), end, lines });
  return pieces;
}

test('Import of a file in pieces: CSV file: each piece begins with the column names, and holds whole lines', async () => {
  expect(await cut('ts,value\n1,1\n2,2\n3,3\n', 'text/csv', 14)).toEqual([
    { text: 'ts,value\n1,1\n', end: 13, lines: 0 },
    { text: 'ts,value\n2,2\n3,3\n', end: 21, lines: 1 },
  ]);
});

test('Import of a file in pieces: NDJSON file: each line is in exactly one piece', async () => {
  expect(await cut('{"a":1}\n{"a":2}\n{"a":3}', 'application/x-ndjson', 9)).toEqual([
    { text: '{"a":1}\n', end: 8, lines: 0 },
    { text: '{"a":2}\n', end: 16, lines: 1 },
    { text: '{"a":3}', end: 23, lines: 2 },
  ]);
});

test('Import of a file in pieces: a line is longer than the piece size: the line is not split', async () => {
  expect(await cut(`ts,value\n${'1'.repeat(50)},1\n2,2\n`, 'text/csv', 16)).toEqual([
    { text: 'ts,value\n', end: 9, lines: 0 },
    { text: `ts,value\n${'1'.repeat(50)},1\n2,2\n`, end: 66, lines: 0 },
  ]);
});

test('Import of a file in pieces: any piece size: pieces hold each line once, in order, with its line number', async () => {
  const rows = Array.from({ length: 200 }, (_, at) => `${at},${'é'.repeat(at % 7)}`);
  for (const bytes of [5, 17, 64, 1000, 100_000]) {
    const pieces = await cut(`ts,name\n${rows.join('\n')}\n`, 'text/csv', bytes);
    const found = pieces.flatMap(({ text, lines }) =>
      text
        .trimEnd()
        .split('\n')
        .slice(1)
        .map((row, at) => [lines + at, row]),
    );
    expect(found).toEqual(rows.map((row, at) => [at, row]));
  }
});

test.each([
  ['comments and a line of Excel', 'sep=;\n# note\nts;a\n1;1\n2;2\n', {}, 3],
  [
    'lines before the names, and units',
    'Logger\n\nts;a\n;V\n1;1\n2;2\n',
    { header_line: '3', units: 'row' },
    4,
  ],
  ['no names', '1;1\n2;2\n', { header_line: '0' }, 0],
])(
  'Import of a file in pieces: %s: each piece begins with the lines before the data',
  async (_, text, options, head) => {
    const lines = text.split('\n');
    const begin = lines
      .slice(0, head)
      .map((line) => `${line}\n`)
      .join('');
    expect(await cut(text, 'text/csv', text.length - 4, options)).toMatchObject([
      { text: `${begin}1;1\n`, lines: 0 },
      { text: `${begin}2;2\n`, lines: 1 },
    ]);
  },
);

test.each([
  ['utf-16le', undefined, Buffer.from('\ufeffts;Küche\n', 'utf16le')],
  ['utf-16be', undefined, Buffer.from('\ufeffts;Küche\n', 'utf16le').swap16()],
  ['windows-1252', 'windows-1252', Buffer.from('ts;Küche\n', 'latin1')],
])('Import of a file: content in %s: sent as UTF-8', async (_, encoding, bytes) => {
  expect(await (await inUtf8(new Blob([bytes]), 'text/csv', encoding)).text()).toBe('ts;Küche\n');
});
