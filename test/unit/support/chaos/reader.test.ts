import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { identifyDevice, identifySensor } from '../../../../schema/ids.ts';
import { noteOf } from '../../../../simulator/ledger/format.ts';
import { Ledger } from '../../../../simulator/ledger/ledger.ts';
import { createRandom } from '../../../../simulator/random.ts';
import { Reader } from '../../../chaos/reader.ts';
import { LedgerIndex } from '../../../cluster/kit/ledger-index.ts';
import { listening } from '../../../support/http/listening.ts';

const SAMPLES: Array<[ts: number, value: number]> = [
  [1000, 1],
  [2000, -0],
  [3000, 3],
];
const SENSOR_ID = identifySensor(String(identifyDevice('d')?.id), 's')?.id;
const RANGE = { from: 0, to: 60_000 };

let directory: string;
let index: LedgerIndex;
/** What the API has. */
let stored = SAMPLES;

const server = createServer(({ url = '' }, response) => {
  const point = (ts: number, value: number, count = 1) => ({
    ts: iso(ts),
    min: value,
    max: value,
    avg: value,
    count,
  });
  const series = [...new Map(stored)].map(([ts, value]) => point(ts, value));
  const [newest = [0, 0]] = [...stored].sort(([a], [b]) => b - a);
  const items = url.includes('/latest')
    ? [{ sensor_id: SENSOR_ID, ts: iso(newest[0]), value: newest[1] }]
    : stored.map(([ts, value]) => ({ ts: iso(ts), value }));
  response.end(
    JSON.stringify(url.includes('/series') ? { points: series, step_ms: 1000 } : { items, next: null }),
  );
});
const iso = (ts: number) => new Date(ts).toISOString();

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-reader-'));
  const path = join(directory, 'ledger');
  const onFailed = (error: Error) => {
    throw error;
  };
  const ledger = new Ledger({ path, onFailed });
  const samples = SAMPLES.map(([ts, value]) => ({ ts, value }));
  ledger.acknowledged(Number(ledger.sent(noteOf('d', [{ name: 's', samples }]))));
  ledger.sent(noteOf('d', [{ name: 's', samples: [{ ts: 4000, value: 4 }] }]));
  ledger.close();
  index = new LedgerIndex(path);
});
afterAll(async () => {
  server.close();
  await index.close();
  await rm(directory, { recursive: true });
});

const port = await listening(server);
const reader = new Reader({ urls: () => [`http://127.0.0.1:${port}`], random: createRandom(1, 'reader') });

test.each<[title: string, Array<[number, number]>, string[]]>([
  ['all acknowledged samples are there', SAMPLES, []],
  ['an unacknowledged sample is there, too', [...SAMPLES, [4000, 4]], []],
  ['a sample is missing', SAMPLES.slice(1), ['lost in pages', 'lost in series']],
  [
    'the newest sample is missing',
    SAMPLES.slice(0, 2),
    ['lost in latest', 'lost in pages', 'lost in series'],
  ],
  ['a sample comes twice', [...SAMPLES.slice(0, 2), [2000, 0], [3000, 3]], ['doubled in pages']],
  ['a value differs', [[1000, 1.5], ...SAMPLES.slice(1)], ['wrong in pages', 'wrong in series']],
  [
    'a sample was never sent',
    [[500, 1], ...SAMPLES],
    ['doubled in series', 'wrong in pages', 'wrong in series'],
  ],
])('Reader of chaos: %s: expected problems', async (_, answer, expected) => {
  stored = answer;
  const problems = await reader.checkDevice(index, 'd', RANGE);
  expect(problems.map(({ kind, where }) => `${kind} in ${where}`).sort()).toEqual(expected);
});
