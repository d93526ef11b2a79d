import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../../support/clean-ups.ts';
import {
  createFleetCase,
  createLedgerCase,
  expectFindings,
  findingsOf,
  HOUR_MS,
  START,
} from '../../../support/simulator/ledger-case.ts';

const afterwards = useCleanUps();
const newCase = () => createLedgerCase(afterwards);
const newFleet = () => createFleetCase(afterwards);

test('Ledger comparison: ledger and database agree: all messages, devices and samples are counted', async () => {
  expect(await newFleet().compare()).toMatchObject({
    agree: true,
    messages: 7,
    devices: 2,
    acknowledged: 10,
    stored: 10,
    range: { from: START + 1000, to: START + 2 * HOUR_MS + 2001 },
  });
});

test.each([1, 200])('Ledger comparison: ledger in parts of %i bytes: same result', async (partBytes) => {
  const whole = await newFleet().compare();
  expect(await newFleet().compare({ partBytes })).toEqual(whole);
});

test('Ledger comparison: one unacknowledged message is stored, another one is not: no finding', async () => {
  const fleet = newFleet();
  fleet.send('collar', 'pulse', [[START + 3000, 62]], { acknowledged: false, stored: true });
  fleet.send('collar', 'pulse', [[START + 4000, 63]], { acknowledged: false, stored: false });
  const result = await fleet.compare();
  expectFindings(result, {});
  expect(result).toMatchObject({ acknowledged: 10, stored: 11 });
});

test('Ledger comparison: two acknowledged values for one instant, the greater is stored: no finding', async () => {
  const fleet = newFleet();
  fleet.send('collar', 'pulse', [[START + 3000, 7]], { stored: false });
  fleet.send('collar', 'pulse', [[START + 3000, 9]]);
  expectFindings(await fleet.compare(), {});
});

test('Ledger comparison: all hours are packed into history, and their message rows deleted: no finding', async () => {
  const fleet = newFleet();
  fleet.pack(START + 3 * HOUR_MS);
  expect(await fleet.compare()).toEqual(await newFleet().compare());
});

test('Ledger comparison: three of 8,301 messages are not stored: exactly their samples are reported as missing', async () => {
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

test('Ledger comparison: a row of the database is lost: each sample of the row is reported as missing', async () => {
  const fleet = newFleet();
  fleet.batches().shift();
  const result = await fleet.compare();
  expect(findingsOf(result)).toEqual({
    missing: { count: 2, first: [`collar/pulse ${START + 1000}`, `collar/pulse ${START + 2000}`] },
  });
  expect(result.found.missing.first[0]?.message).toBe('60 is not stored');
});

test('Ledger comparison: a history row of a packed hour is lost: its sample is reported as missing', async () => {
  const fleet = newFleet();
  fleet.pack(START + 3 * HOUR_MS);
  fleet.history().splice(
    fleet.history().findIndex(({ samples }) => samples.length === 1),
    1,
  );
  expectFindings(await fleet.compare(), { missing: 1 });
});

test('Ledger comparison: the missing samples lie outside the compared time range: no finding', async () => {
  const fleet = newFleet();
  fleet.batches().shift();
  const result = await fleet.compare({ range: { from: START + 2001, to: START + 2 * HOUR_MS + 2000 } });
  expectFindings(result, {});
  expect(result).toMatchObject({ acknowledged: 6, stored: 6 });
});

test.each([
  ['by one bit', 60.00000000000001],
  ['by its sign', -60],
])('Ledger comparison: a stored value differs %s: reported as differing', async (_, value) => {
  const fleet = newFleet();
  const [row] = fleet.batches();
  row?.samples.splice(0, 1, [START + 1000, value]);
  const result = await fleet.compare();
  expectFindings(result, { differing: 1 });
  expect(result.found.differing.first[0]?.message).toBe(`60 was sent, ${value} is stored`);
});

test('Ledger comparison: 0 is stored instead of -0: the stored sample and the latest value are reported', async () => {
  const fleet = newFleet();
  const row = fleet.batches().at(-1);
  row?.samples.splice(0, 1, [START + 5000, 0]);
  const result = await fleet.compare();
  expectFindings(result, { differing: 1, latest: 1 });
  expect(result.found.differing.first[0]?.message).toBe('-0 was sent, 0 is stored');
});

test('Ledger comparison: two acknowledged values for one instant, the greater is lost: reported as differing', async () => {
  const fleet = newFleet();
  fleet.send('collar', 'pulse', [[START + 3000, 7]]);
  fleet.send('collar', 'pulse', [[START + 3000, 9]], { stored: false });
  expectFindings(await fleet.compare(), { differing: 1 });
});

test('Ledger comparison: the database has two samples that no device sent: both samples are reported as unknown', async () => {
  const fleet = newFleet();
  fleet.store('collar', 'pulse', [[START + 1001, 60]]);
  fleet.store('collar', 'strange', [[START + 1000, 1]]);
  fleet.setLatest('collar', 'strange', [START + 1000, 1]);
  const result = await fleet.compare();
  expectFindings(result, { unknown: 2 });
  expect(result.found.unknown.first[0]).toMatchObject({ sensor: 'pulse', ts: START + 1001 });
});

test('Ledger comparison: a sensor outside the ledger has a sample but no latest value: sample and latest value are reported', async () => {
  const fleet = newFleet();
  fleet.store('collar', 'strange', [[START + 1000, 1]]);
  const problems = [] as number[];
  const onProgress = (progress: { problems: number }) => problems.push(progress.problems);
  expectFindings(await fleet.compare({ onProgress }), { unknown: 1, latest: 1 });
  expect(problems.at(-1)).toBe(2);
});

test('Ledger comparison: one message is stored in two rows, as after a redelivery: each sample counts once', async () => {
  const { stored } = await newFleet().compare();
  const fleet = newFleet();
  fleet.batches().push(...fleet.batches().slice(0, 1));
  const result = await fleet.compare();
  expectFindings(result, {});
  expect(result.stored).toBe(stored);
});

test.each([
  ['device', 'x'.repeat(129), 'pulse'],
  ['sensor', 'collar', 'x'.repeat(129)],
])('Ledger comparison: a %s name has 129 bytes: an error is thrown', async (what, device, sensor) => {
  const fleet = newCase();
  fleet.send(device, sensor, [[START, 1]], { stored: false });
  await expect(fleet.compare()).rejects.toThrow(`the ledger has a ${what} that cannot be`);
});
