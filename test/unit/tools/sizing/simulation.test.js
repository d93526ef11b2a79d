import { beforeAll, describe, expect, test } from '@jest/globals';
import { ratesOf, tablesOf } from '../../../../schema/sizes.js';
import { payloadBytes, writesOf } from '../../../../tools/sizing/traffic.js';
import { simulate } from '../../../support/simulator/size-simulation.js';
import { planOf } from './plan.js';

const HOURS = 1;
const SECONDS = HOURS * 3600;

/** The loads of the bench and of the simulator's profiles, one whose messages need several rows, and one with more sensors than a commit takes. */
const FLEETS = [
  '--sensors 8 --sensors-per-device 1 --interval 1s --batch 60s',
  '--sensors 16 --sensors-per-device 4 --interval 1s --batch 10s',
  '--sensors 100 --sensors-per-device 50 --interval 10s --batch 10s',
  '--sensors 2 --sensors-per-device 1 --interval 1s --batch 1s',
  '--sensors 4 --sensors-per-device 2 --interval 200ms --batch 10m',
  '--sensors 300 --sensors-per-device 300 --interval 60s --batch 60s',
];

/** @param {number} counted @param {number} calculated @param {number} share that it may be off */
function expectNear(counted, calculated, share) {
  expect(counted).toBeGreaterThan(calculated * (1 - share));
  expect(counted).toBeLessThan(calculated * (1 + share));
}

describe.each(FLEETS)('Sizing: an hour of %s through the code of ingest', (flags) => {
  const { fleet } = planOf(flags);
  const rates = ratesOf(fleet);
  /** @type {Awaited<ReturnType<typeof simulate>>} */
  let counted;
  beforeAll(async () => {
    counted = await simulate(fleet, HOURS);
  });

  test('messages, samples and bytes: as calculated', () => {
    const { messages, samples, payload } = counted;
    expectNear(messages, rates.messages * SECONDS, 0.001);
    expectNear(samples, rates.samples * SECONDS, 0.001);
    expectNear(payload / messages, payloadBytes(fleet), 0.03);
  });

  test('requests and rows: as calculated', () => {
    const { sent, latest } = counted;
    const writes = writesOf(fleet);
    expectNear(sent.requests, writes.samples.requests * SECONDS, 0.02);
    expectNear(sent.rows, writes.samples.rows * SECONDS, 0.06);
    expectNear(latest.requests, writes.latest.requests * SECONDS, 0.001);
    expectNear(latest.rows, writes.latest.rows * SECONDS, 0.001);
  });

  test('partitions and their bytes: as calculated', () => {
    const { sent, rowBytes } = counted;
    const devices = fleet.sensors / fleet.sensorsPerDevice;
    const { message } = tablesOf({ ...fleet, batchDays: HOURS / 24 });
    // The last messages reach into the hour after.
    expect(sent.partitions.size).toBeGreaterThanOrEqual(message.partitions);
    expect(sent.partitions.size).toBeLessThanOrEqual(message.partitions + devices);
    expectNear(rowBytes, message.bytes, 0.06);
  });
});
