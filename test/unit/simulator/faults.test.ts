import { expect, test } from '@jest/globals';
import { decode } from '../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../api/ingest/decode/message-batch.ts';
import { MillraceError } from '../../../common/errors.ts';
import { isName } from '../../../schema/ids.ts';
import { DeviceFaults, POISON, spoiled } from '../../../simulator/faults/device-faults.ts';
import { parseFaults } from '../../../simulator/faults/rates.ts';
import { encodeSenml } from '../../../simulator/payloads/senml.ts';
import { createRandom } from '../../../simulator/random.ts';
import { resolveSenml } from '../../support/payloads/senml-resolver.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const BATCHES = 400;
const SAMPLES = 5;

/** @param batch its number, from 0 */
const measured = (batch: number) =>
  ['pulse', 'temperature'].map((name) => ({
    name,
    samples: Array.from({ length: SAMPLES }, (_, i) => ({
      ts: NOW + 1000 * (batch * SAMPLES + i),
      value: 38,
    })),
  }));

/** Returns all messages of a device with these faults, for fixed batches. */
function sent(rates: string, seed: number = 1) {
  const faults = new DeviceFaults({
    rates: parseFaults(rates),
    random: createRandom(seed, 'device', 'faults'),
    encode: encodeSenml,
  });
  const messages = Array.from({ length: BATCHES }, (_, batch) => faults.next(measured(batch))).flat();
  return [...messages, ...faults.rest()];
}

const samplesOf = (messages: ReturnType<typeof sent>) =>
  messages.flatMap(({ series }) =>
    series.flatMap(({ name, samples }) => samples.map(({ ts, value }) => ({ name, ts, value }))),
  );

const ALL = samplesOf(sent('late=0'));

const key = ({ name, ts }: { name: string; ts: number }) => `${name} ${ts}`;

const sorted = (samples: ReturnType<typeof samplesOf>) => samples.map(key).sort();

test.each([
  ['missing', 0.1],
  ['gap', 0.2],
])('Simulated faults: %s=%d: about this share of the samples is missing', (fault, rate) => {
  const left = samplesOf(sent(`${fault}=${rate}`));
  const share = 1 - left.length / ALL.length;
  expect(share).toBeGreaterThan(rate / 2);
  expect(share).toBeLessThan(rate * 2);
  const known = new Set(ALL.map(key));
  expect(left.every((sample) => known.has(key(sample)))).toBe(true);
});

test('Simulated faults: disorder=0.3: samples are out of order within and across messages, and none is lost', () => {
  const messages = sent('disorder=0.3');
  expect(sorted(samplesOf(messages))).toEqual(sorted(ALL));
  const falls = (times: number[]) => times.some((ts, i) => ts < Number(times[i - 1]));
  expect(messages.some(({ series }) => falls((series[0]?.samples ?? []).map(({ ts }) => ts)))).toBe(true);
  const sizes = messages.map(({ series }) => series[0]?.samples.length);
  expect(sizes.some((size) => Number(size) > SAMPLES)).toBe(true);
});

test('Simulated faults: duplicate=0.1: some payloads are sent twice in a row, byte by byte', () => {
  const messages = sent('duplicate=0.1');
  const again = messages.filter(({ payload }, i) => payload === messages[i - 1]?.payload).length;
  expect(again).toBe(messages.length - BATCHES);
  expect(again).toBeGreaterThan(BATCHES / 20);
  expect(again).toBeLessThan(BATCHES / 5);
});

test('Simulated faults: poison=0.3: bad elements come in separate or good messages, and are not recorded as samples', () => {
  const messages = sent('poison=0.3');
  expect(sorted(samplesOf(messages))).toEqual(sorted(ALL));
  const separate = messages.filter(({ series }) => series.length === 0).length;
  const within = messages.filter(({ payload }) => String(payload).endsWith('"broken"}]')).length;
  expect(separate).toBeGreaterThan(BATCHES / 6);
  expect(within).toBeGreaterThan(0);
});

const EVERYTHING = 'tsbs,duplicate=0.1,skew=1,poison=0.1';

test('Simulated faults: equal seeds: messages equal byte by byte; another seed: other messages', () => {
  expect(sent(EVERYTHING)).toEqual(sent(EVERYTHING));
  expect(sent(EVERYTHING, 2)).not.toEqual(sent(EVERYTHING));
});

test('Simulated faults: all faults at once: each message records exactly the samples of its payload', () => {
  for (const { payload, series } of sent('tsbs,duplicate=0.1,skew=1')) {
    const said = resolveSenml(JSON.parse(String(payload))).map(({ name, ts, value }) => ({
      name,
      ts,
      value,
    }));
    expect(said).toEqual(samplesOf([{ payload, series }]));
  }
});

/** Returns the samples and refusals that the API finds in a payload. */
function taken(payload: string | Buffer) {
  const batch = new MessageBatch({
    receivedAt: NOW,
    oldest: NOW - 365 * 86_400_000,
    newest: NOW + 300_000,
    relative: true,
  });
  try {
    decode(Buffer.from(payload), undefined, batch);
  } catch (error) {
    if (error instanceof MillraceError) return { codes: [error.code], samples: 0 };
    throw error;
  }
  // The API checks names after decoding.
  const bad = [...batch.sensors.keys()].filter((name) => !isName(name)).map(() => 'bad_id');
  const good = [...batch.sensors].filter(([name]) => isName(name));
  const samples = good.reduce((sum, [, { times }]) => sum + times.length, 0);
  return { codes: [...batch.refused.map(({ code }) => code), ...bad], samples };
}

test.each(POISON.map(({ code, make }, number) => ({ number, code, make })))(
  'Simulated bad message: $number: the API refuses it with code $code',
  ({ code, make }) => {
    expect(taken(make('pulse', NOW))).toEqual({ codes: [code], samples: 0 });
  },
);

test('Simulated bad messages: one bad element in a batch: the API accepts all other elements', () => {
  expect(taken(spoiled(measured(0), 'pulse', NOW))).toEqual({ codes: ['not_numeric'], samples: 2 * SAMPLES });
});

test('Fault rates: single rates, a preset, or a preset with changed rates: read', () => {
  expect(parseFaults('late=0.05,poison=1e-3')).toMatchObject({ late: 0.05, poison: 0.001, missing: 0 });
  expect(parseFaults('tsbs')).toMatchObject({ missing: 0.1, gap: 0.01, late: 0.05, zero: 0.1, poison: 0 });
  expect(parseFaults('tsbs,late=0')).toMatchObject({ missing: 0.1, late: 0 });
});

test.each(['', 'late', 'late=', 'late=x', 'late=1.1', 'late=-0.1', 'lost=0.1', 'constructor=1', 'toString'])(
  'Fault rates: flag --faults=%s: refused with a usage error',
  (text) => {
    expect(() => parseFaults(text)).toThrow(expect.objectContaining({ code: 'usage' }));
  },
);
