import { describe, expect, test } from '@jest/globals';
import { readMetric, readRequests } from '../support/metrics.ts';
import { connectDevice } from '../support/mqtt/device.ts';
import { startTestSystem } from '../support/system/index.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';
import { until } from '../support/until.ts';

/** `ts` in epoch ms */
type Sample = { ts: number; value: number };

/** Two days ago, in epoch ms. All samples are newer, and a year of empty hours takes long to read. */
const FROM = Date.now() - 2 * 86_400_000;

const system = useTestSystem();
const client = useDevice(system);

const publish = (device: string, samples: Sample[], sensor: string = 't') =>
  client.measure(
    device,
    samples.map((sample) => ({ sensor_id: sensor, ...sample })),
  );

const measurements = (device: string, sensor: string = 't'): Promise<{ ts: string; value: number }[]> =>
  system.all(`/devices/${device}/sensors/${sensor}/measurements?order=asc&limit=100&from=${FROM}`);

async function latest(device: string, sensor: string = 't') {
  const { ts, value } = await system.get(`/devices/${device}/sensors/${sensor}`);
  return { ts, value };
}

const asRead = ({ ts, value }: Sample) => ({ ts: new Date(ts).toISOString(), value });

/** The expected samples, by brute force: for each instant the value with the greater 8 bytes. */
function merged(samples: Sample[]) {
  const values: Map<number, number> = new Map();
  for (const { ts, value } of samples) {
    const stored = values.get(ts);
    if (stored === undefined || Buffer.compare(bytes(value), bytes(stored)) > 0) values.set(ts, value);
  }
  return [...values].sort(([a], [b]) => a - b).map(([ts, value]) => asRead({ ts, value }));
}

function bytes(value: number) {
  const eight = Buffer.alloc(8);
  eight.writeDoubleBE(value);
  return eight;
}

/** A small generator with a seed, so that a failure can be repeated. @returns in [0, 1) */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

const shuffled = <T>(list: T[], random: () => number) =>
  list
    .map((item) => [random(), item] as [number, T])
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item);

describe('Merging: the same samples in other messages: the same result', () => {
  // The samples are of about two hours. Every fifth instant has two values.
  const now = Date.now();
  const random = createRandom(20_261_121);
  const samples = Array.from({ length: 500 }, (_, index) => index).flatMap((index) => {
    const ts = now - index * 15_000;
    const value = Math.round((random() - 0.5) * 1e4) / 100;
    return index % 5 === 0
      ? [
          { ts, value },
          { ts, value: -value * random() },
        ]
      : [{ ts, value }];
  });
  const expected = merged(samples);

  /** @returns batches that overlap by a third */
  const overlapping = (size: number): Sample[][] =>
    Array.from({ length: Math.ceil(samples.length / size) }, (_, index) =>
      samples.slice(index * size, index * size + Math.ceil(size * 1.33)),
    );

  test.each([
    ['one message', [samples]],
    ['one message, reversed', [samples.toReversed()]],
    ['one message, shuffled', [shuffled(samples, random)]],
    ['sent three times', [samples, samples, samples]],
    ['cut into batches of 7', overlapping(7)],
    ['cut into batches of 60, shuffled', shuffled(overlapping(60), random)],
    [
      'cut in several ways at once, shuffled',
      shuffled([...overlapping(13), ...overlapping(60), ...overlapping(61)], random),
    ],
    ['one message for each sample', shuffled(samples, random).map((sample) => [sample])],
  ] as [string, Sample[][]][])(
    '500 samples, some with equal times: %s: the same samples are stored',
    async (title, batches) => {
      const device = title.replaceAll(' ', '-');
      // All messages are sent at once, so that commits overtake each other.
      await Promise.all(batches.map((batch) => publish(device, batch)));
      expect(await measurements(device)).toEqual(expected);
      expect(await latest(device)).toEqual(expected.at(-1));
    },
  );
});

test.each([
  [1, 2, 2],
  [1, -1, -1],
  [-1, -2, -2],
  [0, 1e-300, 1e-300],
  [5e300, -5e-300, -5e-300],
])(
  'Samples with equal times: values %d and %d: %d is stored, in any order, in one message or two',
  async (a, b, winner) => {
    const ts = Date.now();
    const [first, second] = [
      { ts, value: a },
      { ts, value: b },
    ];
    for (const [order, batches] of Object.entries({
      'ab-together': [[first, second]],
      'ba-together': [[second, first]],
      ab: [[first], [second]],
      ba: [[second], [first]],
    })) {
      // A topic must not contain the plus sign of 5e+300.
      const device = `pair-${a}-${b}-${order}`.replaceAll('+', '');
      for (const batch of batches) await publish(device, batch);
      expect(await measurements(device)).toEqual([asRead({ ts, value: winner })]);
      expect(await latest(device)).toEqual(asRead({ ts, value: winner }));
    }
  },
);

test('Latest value: a process has just started and gets an older sample: the newest sample stays the latest value', async () => {
  const ts = Date.now();
  await publish('restarted', [{ ts, value: 1 }]);
  const keyspace = { CQL_KEYSPACE: system.config.cql.keyspace };
  const other = await startTestSystem({ settings: keyspace });
  try {
    const second = await connectDevice(other);
    await second.send('restarted', 'measurements', { sensor_id: 't', ts: ts - 5, value: 9 });
    await second.end();
  } finally {
    await other.halt();
  }
  expect(await latest('restarted')).toEqual(asRead({ ts, value: 1 }));
  expect(await measurements('restarted')).toHaveLength(2);
});

test('Message with 50 sensors: no other message waits: one database request writes its samples and their latest values', async () => {
  const names = Array.from({ length: 50 }, (_, index) => `s${index}`);
  const measure = (value: number) =>
    client.send(
      'fifty',
      'measurements',
      names.map((name) => ({ sensor_id: name, value })),
    );
  const requests = async () => {
    const counts = ['write_measurements', 'write_latest'].map((query) => readRequests(system, query));
    return (await Promise.all(counts)).reduce((sum, count) => sum + count, 0);
  };
  await measure(1);
  // The rows of earlier messages may follow the journal.
  await until(async () => (await readMetric(system, 'iot_journal_samples')) === 0);
  const before = await requests();
  await measure(2);
  expect(await requests()).toBe(before + 1);
  const values = (await system.all('/latest?device=fifty')).map(({ value }: Sample) => value);
  expect(values).toEqual(names.map(() => 2));
});
