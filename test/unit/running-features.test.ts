import { expect, test } from '@jest/globals';
import type { RunningFeature } from '../../api/feature.ts';
import { RunningFeatures } from '../../api/running-features.ts';

const DEVICE = { id: 'd' };

async function start(...running: Array<Partial<RunningFeature>>) {
  const features = new RunningFeatures();
  const made = running.map((feature, index) => ({
    name: String(index),
    create: async () => ({ routes: [], ...feature }),
  }));
  await features.create(made, {} as never);
  return features;
}

// The second retirement does not find the device any more, and a feature such as Kafka needs it.
test('Retirement: the step of one feature fails: the other features get the device, and the retirement fails', async () => {
  const got: unknown[] = [];
  const features = await start(
    { onRetired: () => Promise.reject(new Error('the database is away')) },
    {
      onRetired: () => {
        throw new Error('a defect');
      },
    },
    { onRetired: (_identity, device) => void got.push(device) },
  );
  await expect(features.retired({} as never, DEVICE as never)).rejects.toThrow('the database is away');
  expect(got).toEqual([DEVICE]);
});
