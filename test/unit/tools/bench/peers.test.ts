import { describe, expect, test } from '@jest/globals';
import { insertBetweenMarks, peersHeadline } from '../../../../tools/bench/documents.ts';
import { monthOf } from '../../../../tools/bench/peers/month.ts';
import { type ClassResult, peerTables } from '../../../../tools/bench/peers/report.ts';
import { questdbConf, telegrafToml, tuningOf } from '../../../../tools/bench/peers/settings.ts';

const DAY_MS = 86_400_000;

const telegraf = {
  broker: 'mqtt://127.0.0.1:1883',
  database: 'http://127.0.0.1:9000',
  tuning: { undelivered: 5000, batch: 10_000 },
  samples: 1,
};

describe('Peers: settings', () => {
  test('Bench peers: Telegraf configuration: acknowledgement after the write, and a tcp:// broker URL', () => {
    const text = telegrafToml(telegraf);
    for (const line of [
      'servers = ["tcp://127.0.0.1:1883"]',
      'qos = 1',
      'persistent_session = true',
      'max_undelivered_messages = 5000',
      'metric_batch_size = 10000',
      'flush_interval = "100ms"',
      'influx_timestamp_precision = "1ms"',
      '[[outputs.influxdb_v2]]',
    ])
      expect(text).toContain(line);
  });

  test('Bench peers: Telegraf configuration: the metric buffer holds twice the undelivered samples', () => {
    expect(telegrafToml(telegraf)).toContain('metric_buffer_limit = 1000000\n');
    const large = { ...telegraf, tuning: { undelivered: 20_000, batch: 5000 }, samples: 60 };
    expect(telegrafToml(large)).toContain('metric_buffer_limit = 2400000\n');
  });

  test('Bench peers: Telegraf tunings: each class and load has the best known one, and any other load the default', () => {
    expect(tuningOf('P', '1x10')).toEqual({ undelivered: 5000, batch: 5000 });
    expect(tuningOf('K', '2x2')).toEqual({ undelivered: 5000, batch: 10_000 });
  });

  test('Bench peers: QuestDB configuration: durability class P syncs commits, class K does not, and the server listens on loopback only', () => {
    expect(questdbConf({ port: 9, durability: 'P' })).toContain('cairo.commit.mode=sync\n');
    expect(questdbConf({ port: 9, durability: 'K' })).toContain('cairo.commit.mode=nosync\n');
    expect(questdbConf({ port: 9, durability: 'K' })).toContain('http.bind.to=127.0.0.1:9\n');
  });
});

test('Bench peers: data set that is read in the comparison: four sensors over thirty days, before the current hour', () => {
  const { device, sensors, set } = monthOf(1000, Date.UTC(2026, 10, 23, 12, 34));
  expect(device).toBe('load-1-000000');
  expect(sensors).toHaveLength(4);
  expect(set.to - set.from).toBe(30 * DAY_MS);
  expect(set.to).toBeLessThan(Date.UTC(2026, 10, 23, 12));
});

describe('Peers: tables', () => {
  const rateOf = (rate: number) => ({
    rate,
    cpu: { ingest: 1, database: 2, broker: 0.5, publisher: 0.1 },
    steal: 0,
    others: 0,
  });
  const latency = { count: 1, p50: 1, p99: 2, p999: 3, max: 4, mean: 1, steal: 0, others: 0 };
  const round = { steal: 0, others: 0, repeats: 0 };
  const result: ClassResult = {
    durability: 'K',
    rates: [
      {
        shape: '1x1',
        rounds: [
          {
            ...round,
            results: { questdb: rateOf(40_000), millrace: rateOf(20_000) } as never,
          },
        ],
      },
    ],
    latency: {
      rate: 1000,
      rounds: [{ ...round, results: { questdb: latency, millrace: latency } as never }],
    },
  };

  test('Bench peers: tables of two systems: they have both rates and their ratio', () => {
    const [rates] = peerTables([result]);
    expect(rates?.rows).toEqual([['1x1', '20.0', '40.0', '0.500', '0.0 %', '0.0 %']]);
  });

  test('Bench peers: the section of the peers is replaced, and all other text of the page is kept', () => {
    const page =
      'before\n<!-- peers: written by npm run bench:readme -->\nold\n<!-- /peers -->\nbehind <!-- bench: x -->';
    const machine = { processors: 2, model: 'A', memoryGiB: 1, system: 's', node: 'v20' };
    const raw = {
      began: '2026-11-23T01:02:03Z',
      commit: 'abc',
      machine,
      results: { peers: [result] },
    };
    const text = insertBetweenMarks(page, peersHeadline(raw), 'peers');
    expect(text).toMatch(/^before\n/);
    expect(text).toMatch(/\nbehind <!-- bench: x -->$/);
    expect(text).not.toContain('old');
    expect(text).toContain('at commit abc');
    expect(text).toContain('**0.500 times** at 1x1');
  });
});
