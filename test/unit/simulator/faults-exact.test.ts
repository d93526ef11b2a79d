import { expect, test } from '@jest/globals';
import { DeviceFaults, POISON, spoiled } from '../../../simulator/faults/device-faults.ts';
import { parseFaults } from '../../../simulator/faults/rates.ts';
import type { OutgoingMessage } from '../../../simulator/outgoing-message.ts';
import type { Series } from '../../../simulator/payloads/index.ts';
import { encodePlainJson } from '../../../simulator/payloads/plain-json.ts';
import { Random } from '../../../simulator/random.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const ALMOST_1 = 1 - 2 ** -32;

/** A random generator that always draws the same number. */
class Constant extends Random {
  #value;

  /** @param value from 0 to less than 1 */
  constructor(value: number) {
    super(0);
    this.#value = value;
  }

  override uniform() {
    return this.#value;
  }
}

/** @param batch its number, from 0 */
const series = (batch: number, samples: number = 5): Series => ({
  name: 'pulse',
  samples: Array.from({ length: samples }, (_, i) => ({
    ts: NOW + 10_000 * batch + 1000 * i,
    value: 60 + i,
  })),
});

/** @param drawn number that this device always draws */
const faultsOf = (rates: string, drawn: number) =>
  new DeviceFaults({
    rates: parseFaults(rates),
    random: new Constant(drawn),
    encode: encodePlainJson,
  });

const batchesIn = (messages: OutgoingMessage[]) =>
  messages.map((message) => (Number(message.series[0]?.samples[0]?.ts) - NOW) / 10_000);

test('Simulated faults: all rates are 0, and the random number is 0: each batch is sent unchanged', () => {
  const faults = faultsOf('late=0', 0);
  expect(faults.next([series(0)])).toEqual([{ series: [series(0)], payload: encodePlainJson([series(0)]) }]);
  expect(faults.rest()).toEqual([]);
});

test.each([
  [0.25, 0],
  [0.25 - 2 ** -32, 5],
])('Simulated faults: zero=0.25, random number %p: %i of 5 values are 0', (drawn, zeros) => {
  const [message] = faultsOf('zero=0.25', drawn).next([series(0)]);
  expect(message?.series[0]?.samples.filter(({ value }) => value === 0)).toHaveLength(zeros);
});

test.each([
  [0, -1000],
  [0.499, -120_261],
  [0.5, 120_500],
  [ALMOST_1, 240_000],
])('Simulated faults: skew=1, random number %p: the clock is off by %i ms', (drawn, ms) => {
  const [message] = faultsOf('skew=1', drawn).next([series(0)]);
  expect(message?.series[0]?.samples.map(({ ts }) => ts)).toEqual(series(0).samples.map(({ ts }) => ts + ms));
});

test.each([
  [0, 1],
  [0.34, 2],
  [ALMOST_1, 3],
])('Simulated faults: late=1, random number %p: each batch is sent after %i newer ones', (drawn, newer) => {
  const faults = faultsOf('late=1', drawn);
  const sent = [0, 1, 2, 3, 4].map((batch) => batchesIn(faults.next([series(batch)])));
  expect(sent).toEqual([0, 1, 2, 3, 4].map((batch) => (batch < newer ? [] : [batch - newer])));
});

test('Simulated faults: disorder=1: the smaller half of the samples waits for the next message', () => {
  const faults = faultsOf('disorder=1', 0);
  const sizes = [0, 1, 2].map((batch) => faults.next([series(batch)])[0]?.series[0]?.samples.length);
  // The messages have 3 of 5 samples, 4 of 5 + 2, and 4 of 5 + 3. Four samples are left.
  expect(sizes).toEqual([3, 4, 4]);
  expect(faults.rest()[0]?.series[0]?.samples).toHaveLength(4);
});

const steps = POISON.length + 1;

test.each(POISON.map((poison, number) => ({ number, poison })))(
  'Simulated faults: poison=1, kind $number is drawn: the batch is sent unchanged, then a bad message of this kind',
  ({ number, poison }) => {
    for (const drawn of [number / steps, (number + 0.99) / steps]) {
      expect(faultsOf('poison=1', drawn).next([series(0)])).toEqual([
        { series: [series(0)], payload: encodePlainJson([series(0)]) },
        { series: [], payload: poison.make('pulse', NOW) },
      ]);
    }
  },
);

test.each([POISON.length / steps, ALMOST_1])(
  'Simulated faults: poison=1, random number %p: the batch itself contains a bad element',
  (drawn) => {
    expect(faultsOf('poison=1', drawn).next([series(0)])).toEqual([
      { series: [series(0)], payload: spoiled([series(0)], 'pulse', NOW) },
    ]);
  },
);

test('Simulated bad messages: too_large and bad_id: 10,001 samples, and a sensor id of 129 bytes', () => {
  const [tooLong] = POISON.filter(({ code }) => code === 'bad_id');
  const [tooMany] = POISON.filter(({ code }) => code === 'too_large');
  expect(JSON.parse(String(tooLong?.make('pulse', NOW)))[0].sensor_id).toHaveLength(129);
  expect(JSON.parse(String(tooMany?.make('pulse', NOW)))).toHaveLength(10_001);
});

test('Fault rates: the flag has several problems: the error names all of them in order', () => {
  expect(() => parseFaults('lost=1,late=2,tsbs=0.1')).toThrow(
    /^--faults does not know "lost"\n--faults late is from 0 to 1\n--faults does not know "tsbs"\nThere are: tsbs missing=/,
  );
});
