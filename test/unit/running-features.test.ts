import { expect, test } from '@jest/globals';
import type { RunningFeature } from '../../api/feature.ts';
import { RunningFeatures } from '../../api/running-features.ts';
import { MillraceError } from '../../common/errors.ts';

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

test('Features: one cannot be created: those before it are stopped, and the error has its name and its code', async () => {
  const stopped: string[] = [];
  const feature = (name: string) => ({
    name,
    create: async () => ({ routes: [], stop: () => void stopped.push(name) }),
  });
  const broken = (error: Error) => ({ name: 'broken', create: () => Promise.reject(error) });
  const create = (error: Error) =>
    new RunningFeatures().create([feature('a'), feature('b'), broken(error), feature('c')], {} as never);
  await expect(create(new MillraceError('bad_settings', 'X is wrong.'))).rejects.toMatchObject({
    code: 'bad_settings',
    message: 'The feature broken cannot be created: X is wrong.',
  });
  expect(stopped).toEqual(['a', 'b']);
  await expect(create(new Error('a defect'))).rejects.toThrow(
    'The feature broken cannot be created: a defect',
  );
});

test('Features: one listens to packed hours: the packer of the process gets its listener, and no other', async () => {
  const onPacked = async () => {};
  const features = await start({}, { onPacked });
  const listeners: unknown[] = [];
  const parts = { events: {}, stream: {}, accounts: {} } as never as Parameters<typeof features.listen>[0];
  features.listen({ ...parts, packing: { onPacked: (listener) => void listeners.push(listener) } });
  expect(listeners).toEqual([onPacked]);
  // A process with the role `http` does not pack.
  features.listen({ ...parts, packing: null });
});
