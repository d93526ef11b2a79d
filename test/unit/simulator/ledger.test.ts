import { readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import type { MillraceError } from '../../../common/errors.ts';
import { noteOf } from '../../../simulator/ledger/format.ts';
import { Ledger } from '../../../simulator/ledger/ledger.ts';
import { readLedger } from '../../../simulator/ledger/read.ts';
import { useDirectory } from '../../support/directory.ts';

const directory = useDirectory('ledger');
let files = 0;

const newPath = () => join(directory, `${++files}.ledger`);

const onFailed = (error: Error) => {
  throw error;
};

const series = (...samples: [number, number][]) => [
  { name: 'a "b"', samples: samples.map(([ts, value]) => ({ ts, value })) },
];

async function read(path: string) {
  const entries = [];
  for await (const entry of readLedger(path)) entries.push(entry);
  return entries;
}

test('Simulator ledger: written and read again: devices, sensors, times and values are unchanged, bit by bit', async () => {
  const path = newPath();
  const ledger = new Ledger({ path, onFailed });
  const first = ledger.sent(noteOf('dévice', series([1000, -0], [1001, 5e-324])));
  const second = ledger.sent(noteOf('other', []));
  ledger.acknowledged(Number(second));
  ledger.close();
  expect([first, second]).toEqual([1, 2]);
  expect(await read(path)).toMatchObject([
    {
      kind: 'sent',
      message: 1,
      device: 'dévice',
      series: [{ sensor: 'a "b"', times: [1000, 1001], values: [-0, 5e-324] }],
    },
    { kind: 'sent', message: 2, device: 'other', series: [] },
    { kind: 'acknowledged', message: 2 },
  ]);
});

test('Simulator ledger: message and acknowledgement: written before sent() returns, and by the end of the event-loop turn', async () => {
  const path = newPath();
  const ledger = new Ledger({ path, onFailed });
  ledger.sent(noteOf('d', series([1, 1])));
  expect(readFileSync(path, 'utf8')).toContain('{"sent":1,"device":"d"');
  ledger.acknowledged(1);
  await new Promise((resolve) => setImmediate(resolve));
  expect(readFileSync(path, 'utf8')).toContain('{"acknowledged":1}\n');
  ledger.close();
});

test('Simulator ledger: the simulator was killed in the middle of a line: the next run drops the line and continues', async () => {
  const path = newPath();
  const killed = new Ledger({ path, onFailed });
  killed.sent(noteOf('d', series([1, 1])));
  killed.sent(noteOf('d', series([2, 2])));
  killed.close();
  truncateSync(path, readFileSync(path).length - 3);
  expect(await read(path)).toMatchObject([{ message: 1 }]);

  const next = new Ledger({ path, onFailed });
  next.acknowledged(Number(next.sent(noteOf('d', series([3, 3])))));
  next.close();
  expect(await read(path)).toMatchObject([
    { kind: 'sent', message: 1 },
    { kind: 'sent', message: 2, series: [{ times: [3] }] },
    { kind: 'acknowledged', message: 2 },
  ]);
});

test.each([
  ['a file of another format', '{"hello":"world"}\n{"sent":1}\n'],
  ['an empty file', ''],
  ['a ledger of another version', '{"ledger":99}\n'],
  ['a ledger torn in its middle', '{"ledger":1}\n{"sent":\n{"acknowledged":1}\n'],
  ['a line of something else', '{"ledger":1}\n{"delivered":1}\n'],
])('Simulator ledger: reading %s: refused, and the error has the path', async (_, text) => {
  const path = newPath();
  writeFileSync(path, text);
  await expect(read(path)).rejects.toMatchObject({ code: 'failed', message: expect.stringContaining(path) });
});

test('Simulator ledger: the disk is full: messages are not sent, and the error is reported once', () => {
  // `/dev/full` accepts no byte, like a full disk.
  const failures: MillraceError[] = [];
  const ledger = new Ledger({ path: '/dev/full', onFailed: (error) => failures.push(error) });
  expect([ledger.sent(noteOf('d', series([1, 1]))), ledger.sent(noteOf('d', series([2, 2])))]).toEqual([
    null,
    null,
  ]);
  ledger.close();
  expect(failures.map(({ code }) => code)).toEqual(['disk_full']);
});
