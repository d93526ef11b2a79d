import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { DeviceFaults } from '../../../simulator/faults/device-faults.ts';
import { DeviceEpisodes, type SentEpisode } from '../../../simulator/faults/episodes.ts';
import { parseFaults } from '../../../simulator/faults/rates.ts';
import { Ledger } from '../../../simulator/ledger/ledger.ts';
import { readLedger } from '../../../simulator/ledger/read.ts';
import { encodePlainJson } from '../../../simulator/payloads/plain-json.ts';
import { createRandom } from '../../../simulator/random.ts';
import { trueEpisodes } from '../../support/history/true-episodes.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const LIMIT = 180;
const SENSORS = [
  { name: 'pulse', range: [40, LIMIT] as [number, number] },
  { name: 'breath', range: [10, 100] as [number, number] },
];

/** Sends batches with ten samples per sensor. @param text value of `--faults` */
function run(text: string, batches: number) {
  const episodes: SentEpisode[] = [];
  const rates = parseFaults(text);
  const faults = new DeviceFaults({
    rates,
    random: createRandom(7, 'device', 'faults'),
    encode: encodePlainJson,
    episodes: new DeviceEpisodes({
      count: rates.episodes,
      sensors: SENSORS,
      onSent: (episode) => episodes.push(episode),
    }),
  });
  const messages = Array.from({ length: batches }, (_, batch) =>
    faults.next(
      SENSORS.map(({ name }) => ({
        name,
        samples: Array.from({ length: 10 }, (_, index) => ({
          ts: NOW + (10 * batch + index) * 1000,
          value: 60 + index,
        })),
      })),
    ),
  ).flat();
  messages.push(...faults.rest());
  const pulse = messages
    .flatMap(({ series }) => series.filter(({ name }) => name === 'pulse'))
    .flatMap(({ samples }) => samples.map(({ ts, value }) => [ts, value] as [number, number]));
  return { episodes, samples: [...new Map(pulse)].sort(([a], [b]) => a - b) };
}

test('Simulated episodes above a limit: episodes=3: each sensor has three episodes of different lengths', () => {
  const { episodes, samples } = run('episodes=3', 60);
  const pulse = episodes.filter(({ sensor }) => sensor === 'pulse');
  expect(pulse.map(({ start, end }) => [(start - NOW) / 1000, (Number(end) - NOW) / 1000])).toEqual([
    [20, 23],
    [60, 64],
    [100, 105],
  ]);
  expect(episodes.filter(({ sensor }) => sensor === 'breath')).toHaveLength(3);
  expect(samples).toHaveLength(600);
});

test.each([
  '',
  ',missing=0.3,zero=0.3',
  ',gap=0.3',
  ',late=0.3,disorder=0.5,duplicate=0.3',
  ',skew=1,poison=0.5',
])('Simulator flag --faults episodes=5%s: the ledger has the episodes of the sent samples', (others) => {
  const { episodes, samples } = run(`episodes=5${others}`, 80);
  const pulse = episodes.filter(({ sensor }) => sensor === 'pulse');
  expect(pulse).toHaveLength(5);
  expect(pulse.map(({ start, end, peak }) => ({ start, cleared: end, peak }))).toEqual(
    trueEpisodes({ kind: 'above', limit: LIMIT }, samples, { since: 0, now: NOW }).map(
      ({ start, cleared, peak }) => ({ start, cleared, peak }),
    ),
  );
});

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'millrace-episodes-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

test('Simulator ledger: an episode above a limit is written: reading returns an equal episode', async () => {
  const path = join(directory, 'ledger');
  const ledger = new Ledger({
    path,
    onFailed: (error) => {
      throw error;
    },
  });
  const episode = { sensor: 'pulse', limit: LIMIT, start: NOW, end: null, peak: 194 };
  ledger.episode('collar-0001', episode);
  ledger.close();
  const entries = [];
  for await (const entry of readLedger(path)) entries.push(entry);
  expect(entries).toEqual([{ kind: 'episode', device: 'collar-0001', episode }]);
});

test.each(['episodes=0.5', 'episodes=-1', 'episodes=', 'episodes=10001'])(
  'Simulator flag --faults %s: refused',
  (text) => {
    expect(() => parseFaults(text)).toThrow('--faults episodes is a whole number from 0 to 10000');
  },
);
