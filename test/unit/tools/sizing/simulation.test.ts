import { beforeAll, describe, expect, test } from '@jest/globals';
import { ratesOf, tablesOf } from '../../../../schema/sizes.ts';
import { readPlan } from '../../../../tools/sizing/size.ts';
import { simulate } from '../../../support/simulator/size-simulation.ts';

const HOURS = 1;
const SECONDS = HOURS * 3600;

/** Loads of the bench and of the simulator, a message of several rows, and more sensors than one commit has. */
const FLEETS = [
  '--sensors 8 --sensors-per-device 1 --interval 1s --batch 60s',
  '--sensors 16 --sensors-per-device 4 --interval 1s --batch 10s',
  '--sensors 100 --sensors-per-device 50 --interval 10s --batch 10s',
  '--sensors 2 --sensors-per-device 1 --interval 1s --batch 1s',
  '--sensors 4 --sensors-per-device 2 --interval 200ms --batch 10m',
  '--sensors 300 --sensors-per-device 300 --interval 60s --batch 60s',
];

/** @param share largest relative difference */
function expectNear(counted: number, calculated: number, share: number) {
  expect(counted).toBeGreaterThan(calculated * (1 - share));
  expect(counted).toBeLessThan(calculated * (1 + share));
}

describe.each(FLEETS)('Sizing: an hour of %s through the code of ingest', (flags) => {
  const { fleet } = readPlan(flags.split(' '));
  const rates = ratesOf(fleet);
  let counted: Awaited<ReturnType<typeof simulate>>;
  beforeAll(async () => {
    counted = await simulate(fleet, HOURS);
  });

  test('Sizing: an hour is simulated with the code of ingest: messages and samples differ by less than 0.1 % from the calculation', () => {
    const { messages, samples } = counted;
    expectNear(messages, rates.messages * SECONDS, 0.001);
    expectNear(samples, rates.samples * SECONDS, 0.001);
  });

  test('Sizing: an hour is simulated with the code of ingest: bytes of partitions differ by less than 6 % from the calculation', () => {
    const { partitions, rowBytes } = counted;
    const devices = fleet.sensors / fleet.sensorsPerDevice;
    const { message } = tablesOf({ ...fleet, batchDays: HOURS / 24 });
    // The last messages reach into the next hour.
    expect(partitions.size).toBeGreaterThanOrEqual(message.partitions);
    expect(partitions.size).toBeLessThanOrEqual(message.partitions + devices);
    expectNear(rowBytes, message.bytes, 0.06);
  });
});
