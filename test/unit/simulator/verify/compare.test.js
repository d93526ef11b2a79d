import { describe, expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.js';
import {
  createFleetCase,
  createLedgerCase,
  expectFindings,
  findingsOf,
  HOUR_MS,
  START,
} from '../../../support/simulator/ledger-case.js';

const afterwards = useCleanUps();
const newCase = () => createLedgerCase(afterwards);
const newFleet = () => createFleetCase(afterwards);

describe('Comparison: all that was acknowledged is stored', () => {
  test('Comparison: ledger and database agree: each sample is counted', async () => {
    expect(await newFleet().compare()).toMatchObject({
      agree: true,
      messages: 7,
      devices: 2,
      acknowledged: 10,
      stored: 10,
      range: { from: START + 1000, to: START + 2 * HOUR_MS + 2001 },
    });
  });

  test.each([1, 200])('Comparison: ledger in parts of %i bytes: the same result', async (partBytes) => {
    const whole = await newFleet().compare();
    expect(await newFleet().compare({ partBytes })).toEqual(whole);
  });

  test('Comparison: an unacknowledged message is stored, or not: they agree', async () => {
    const fleet = newFleet();
    fleet.send('collar', 'pulse', [[START + 3000, 62]], { acknowledged: false, stored: true });
    fleet.send('collar', 'pulse', [[START + 4000, 63]], { acknowledged: false, stored: false });
    const result = await fleet.compare();
    expectFindings(result, {});
    expect(result).toMatchObject({ acknowledged: 10, stored: 11 });
  });

  test('Comparison: two messages have one sample each of the same instant, both are stored: they agree', async () => {
    const fleet = newFleet();
    for (const value of [7, 9]) fleet.send('collar', 'pulse', [[START + 3000, value]]);
    expectFindings(await fleet.compare(), {});
  });

  test('Comparison: of two acknowledged values for one instant the greater is stored: they agree', async () => {
    const fleet = newFleet();
    fleet.send('collar', 'pulse', [[START + 3000, 7]], { stored: false });
    fleet.send('collar', 'pulse', [[START + 3000, 9]]);
    expectFindings(await fleet.compare(), {});
  });

  test('Comparison: all hours are packed and their batches gone: they agree', async () => {
    const fleet = newFleet();
    fleet.pack(START + 3 * HOUR_MS);
    expect(await fleet.compare()).toEqual(await newFleet().compare());
  });

  test('Comparison: a late sample is in history as well as in its batch: they agree', async () => {
    const fleet = newFleet();
    fleet.store('collar', 'pulse', [[START + 1000, 60]], fleet.history());
    expectFindings(await fleet.compare(), {});
  });
});

describe('Comparison: something acknowledged is not stored', () => {
  test('Comparison: one of more than 8,192 messages: it is missing, be it the first or the last', async () => {
    const fleet = newCase();
    const count = 8300;
    for (let i = 0; i < count; i++)
      fleet.send('collar', 'pulse', [[START + i, i]], { stored: i > 0 && i < count - 2 });
    fleet.send('collar', 'pulse', [[START + count, 1]]);
    const result = await fleet.compare();
    expect(findingsOf(result)).toEqual({
      missing: {
        count: 3,
        first: [0, count - 2, count - 1].map((i) => `collar/pulse ${START + i}`),
      },
    });
    expect(result).toMatchObject({ messages: count + 1, acknowledged: count + 1, stored: count - 2 });
  });

  test('Comparison: a row is lost: each of its samples is missing', async () => {
    const fleet = newFleet();
    fleet.batches().shift();
    const result = await fleet.compare();
    expect(findingsOf(result)).toEqual({
      missing: { count: 2, first: [`collar/pulse ${START + 1000}`, `collar/pulse ${START + 2000}`] },
    });
    expect(result.found.missing.first[0]?.message).toBe('60 is not stored');
  });

  test('Comparison: a packed hour lost a row: its sample is missing', async () => {
    const fleet = newFleet();
    fleet.pack(START + 3 * HOUR_MS);
    fleet.history().splice(
      fleet.history().findIndex(({ samples }) => samples.length === 1),
      1,
    );
    expectFindings(await fleet.compare(), { missing: 1 });
  });

  test('Comparison: more than ten samples are missing: ten are named, all are counted', async () => {
    const fleet = newCase();
    for (let i = 0; i < 12; i++) fleet.send('collar', 'pulse', [[START + i, i]], { stored: false });
    const { found } = await fleet.compare();
    expect(found.missing).toMatchObject({ count: 12, first: { length: 10 } });
  });

  test('Comparison: the sample lies outside the range: it does not count', async () => {
    const fleet = newFleet();
    fleet.batches().shift();
    const result = await fleet.compare({ range: { from: START + 2001, to: START + 2 * HOUR_MS + 2000 } });
    expectFindings(result, {});
    expect(result).toMatchObject({ acknowledged: 6, stored: 6 });
  });
});

describe('Comparison: something else is stored', () => {
  test.each([
    ['by one bit', 60.00000000000001],
    ['by its sign', -60],
  ])('Comparison: a value differs %s: it is reported', async (_, value) => {
    const fleet = newFleet();
    const [row] = fleet.batches();
    row?.samples.splice(0, 1, [START + 1000, value]);
    const result = await fleet.compare();
    expectFindings(result, { differing: 1 });
    expect(result.found.differing.first[0]?.message).toBe(`60 was sent, ${value} is stored`);
  });

  test('Comparison: 0 is stored instead of -0: it is reported, and so is its latest value', async () => {
    const fleet = newFleet();
    const row = fleet.batches().at(-1);
    row?.samples.splice(0, 1, [START + 5000, 0]);
    const result = await fleet.compare();
    expectFindings(result, { differing: 1, latest: 1 });
    expect(result.found.differing.first[0]?.message).toBe('-0 was sent, 0 is stored');
  });

  test('Comparison: the greater of two acknowledged values is lost: it is reported', async () => {
    const fleet = newFleet();
    fleet.send('collar', 'pulse', [[START + 3000, 7]]);
    fleet.send('collar', 'pulse', [[START + 3000, 9]], { stored: false });
    expectFindings(await fleet.compare(), { differing: 1 });
  });

  test('Comparison: a sample that nobody sent, of a known and of an unknown sensor: both are unknown', async () => {
    const fleet = newFleet();
    fleet.store('collar', 'pulse', [[START + 1001, 60]]);
    fleet.store('collar', 'strange', [[START + 1000, 1]]);
    fleet.setLatest('collar', 'strange', [START + 1000, 1]);
    const result = await fleet.compare();
    expectFindings(result, { unknown: 2 });
    expect(result.found.unknown.first[0]).toMatchObject({ sensor: 'pulse', ts: START + 1001 });
  });

  test('Comparison: a sensor that nobody sent has a sample and no latest value: both are reported', async () => {
    const fleet = newFleet();
    fleet.store('collar', 'strange', [[START + 1000, 1]]);
    const problems = /** @type {number[]} */ ([]);
    const onProgress = (/** @type {{ problems: number }} */ progress) => problems.push(progress.problems);
    expectFindings(await fleet.compare({ onProgress }), { unknown: 1, latest: 1 });
    expect(problems.at(-1)).toBe(2);
  });

  test('Comparison: a sensor that nobody sent has a latest value alone: it is reported', async () => {
    const fleet = newFleet();
    fleet.setLatest('collar', 'strange', [START + 1000, 1]);
    expectFindings(await fleet.compare(), { latest: 1 });
  });

  test('Comparison: one message is stored in two rows, as after a redelivery: they agree, and each sample counts once', async () => {
    const { stored } = await newFleet().compare();
    const fleet = newFleet();
    fleet.batches().push(...fleet.batches().slice(0, 1));
    const result = await fleet.compare();
    expectFindings(result, {});
    expect(result.stored).toBe(stored);
  });
});

test.each([
  ['device', 'x'.repeat(129), 'pulse'],
  ['sensor', 'collar', 'x'.repeat(129)],
])('Comparison: the ledger has a %s with a name of 129 bytes: it fails', async (what, device, sensor) => {
  const fleet = newCase();
  fleet.send(device, sensor, [[START, 1]], { stored: false });
  await expect(fleet.compare()).rejects.toThrow(`the ledger has a ${what} that cannot be`);
});
