import { expect, test } from '@jest/globals';
import pino from 'pino';
import type { RunningFeature } from '../../api/feature.ts';
import { IngestEvents } from '../../api/ingest/index.ts';
import { createContext } from '../../api/observability/index.ts';
import { RunningFeatures } from '../../api/running-features.ts';
import { MillraceError } from '../../common/errors.ts';
import { readSettings } from '../../common/settings/index.ts';
import { readSeries } from '../support/metrics.ts';
import { NO_ENV_FILE } from '../support/settings.ts';
import { startMemoryPipeline } from '../support/system/memory-pipeline.ts';
import { until } from '../support/until.ts';

const DEVICE = { id: 'd' };
const STOP_WITHIN_MS = 50;

async function start(...running: Array<Partial<RunningFeature>>) {
  const lines: string[] = [];
  const logger = pino({ level: 'warn' }, { write: (line) => void lines.push(line) });
  const config = readSettings({}, { envFile: NO_ENV_FILE });
  const context = createContext({ config, version: 'test', logger });
  const features = new RunningFeatures(context, STOP_WITHIN_MS);
  const created = running.map((feature, index) => ({
    name: String(index),
    create: async () => ({ routes: [], ...feature }),
  }));
  await features.create(created, {} as never);
  return {
    features,
    log: () => lines.map((line) => JSON.parse(line)),
    failures: async (feature: string) =>
      readSeries(
        await context.metrics.registry.metrics(),
        `iot_feature_failures_total{feature="${feature}"}`,
      ),
  };
}

function listenTo(features: RunningFeatures, parts: object = {}) {
  const events = new IngestEvents();
  features.listen({ events, stream: {}, accounts: {}, packing: null, ...parts } as never);
  return events;
}

const fail = () => {
  throw new Error('a defect');
};

test.each([
  ['throws', fail],
  ['is async, and rejects', async () => fail()],
])(
  'Features: one %s after each registration and commit: messages are accepted, others are called, and log and metric report it',
  async (_, broken) => {
    const calls: string[] = [];
    const { features, log, failures } = await start(
      { onCommitted: broken, onRegistered: broken },
      {
        onCommitted: (_device, changed) => void calls.push(`committed ${changed[0]?.value}`),
        onRegistered: ({ name }) => void calls.push(`registered ${name}`),
      },
    );
    const events = listenTo(features);
    const { publish, onRegistered } = events.callbacks;
    const pipeline = await startMemoryPipeline({ onStored: publish, onRegistered });
    for (const value of [1, 2])
      expect(await pipeline.measure('pump', [{ sensor_id: 't', value }])).toBe('accepted');
    expect(calls).toEqual(['registered pump', 'committed 1', 'committed 2']);
    expect(await pipeline.deadLetters()).toEqual([]);
    await pipeline.stop();
    await until(async () => (await failures('0')) === 3);
    expect(await failures('1')).toBe(0);
    // One line a minute for each feature.
    expect(log()).toMatchObject([{ feature: '0', err: { message: 'a defect' } }]);
  },
);

test('Features: the judge throws: the value reaches readers without a judgment', async () => {
  const { features, log } = await start({ judge: { judge: fail, onChange: () => () => {} } });
  const judges: Array<{ judge: (key: string, item: object) => void }> = [];
  listenTo(features, { stream: { judgeBy: (judge: never) => void judges.push(judge) } });
  judges[0]?.judge('d/s', {});
  expect(log()).toMatchObject([{ feature: '0' }]);
});

test('Features: one cannot extend the heartbeat: the heartbeat has the parts of the others', async () => {
  const { features, log } = await start({ beat: fail }, { beat: () => ({ measurements: 1 }) as never });
  expect(features.beat()).toEqual({ measurements: 1 });
  expect(log()).toMatchObject([{ feature: '0' }]);
});

// The second retirement does not find the device any more, and a feature such as Kafka needs it.
test('Retirement: the step of one feature fails: the other features get the device, and the retirement fails', async () => {
  const got: unknown[] = [];
  const { features } = await start(
    { onRetired: () => Promise.reject(new Error('the database is away')) },
    { onRetired: fail },
    { onRetired: (_identity, device) => void got.push(device) },
  );
  await expect(features.retired({} as never, DEVICE as never)).rejects.toThrow('the database is away');
  expect(got).toEqual([DEVICE]);
});

test('Features: one cannot be created: the error has its name and its code, and those before it stop', async () => {
  const stopped: string[] = [];
  const feature = (name: string) => ({
    name,
    create: async () => ({ routes: [], stop: () => void stopped.push(name) }),
  });
  const broken = (error: Error) => ({
    name: 'broken',
    create: () => {
      throw error;
    },
  });
  const { features } = await start();
  const create = (error: Error) =>
    features.create([feature('a'), feature('b'), broken(error), feature('c')], {} as never);
  await expect(create(new MillraceError('bad_settings', 'X is wrong.'))).rejects.toMatchObject({
    code: 'bad_settings',
    message: 'The feature broken cannot be created: X is wrong.',
  });
  await features.stop();
  expect(stopped).toEqual(['a', 'b']);
  await expect(create(new Error('a defect'))).rejects.toThrow(
    'The feature broken cannot be created: a defect',
  );
});

test('Features: one cannot start: the error has its name and its code', async () => {
  const { features } = await start({}, { start: () => Promise.reject(new MillraceError('unavailable')) });
  await expect(features.start()).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringContaining('The feature 1 cannot start: '),
  });
});

test('Features: one does not end its stop, another throws: the rest stops, and each failure has its name', async () => {
  const stopped: string[] = [];
  const { features, log } = await start(
    { stop: () => new Promise(() => {}) },
    { stop: fail },
    { stop: () => void stopped.push('2') },
  );
  const [slow, broken, good] = await features.stop();
  expect(stopped).toEqual(['2']);
  expect(slow).toMatchObject({
    reason: { message: 'The feature 0 cannot stop: it takes longer than 50 ms' },
  });
  expect(broken).toMatchObject({ reason: { message: 'The feature 1 cannot stop: a defect' } });
  expect(good).toMatchObject({ status: 'fulfilled' });
  expect(
    log()
      .map(({ feature }) => feature)
      .sort(),
  ).toEqual(['0', '1']);
});

test('Features: two judge values, or two sign devices in: the process does not start, and the error names both', async () => {
  const judge = { judge: () => {}, onChange: () => () => {} };
  await expect(start({ judge }, { judge })).rejects.toThrow('judge: 0, 1');
  const signIn = async () => null;
  await expect(start({ signIn }, {}, { signIn } as never)).rejects.toThrow('signIn: 0, 2');
});

test('Features: one throws when it gets a correction: log and metric report it; the caller repeats it after the error unavailable', async () => {
  const unavailable = () => Promise.reject(new MillraceError('unavailable'));
  const { features, log, failures } = await start({ onCorrected: fail }, { onCorrected: unavailable });
  const listeners: Array<() => Promise<void>> = [];
  const onCorrected = (listener: () => Promise<void>) => void listeners.push(listener);
  listenTo(features, { corrections: { log: { onCorrected } } });
  await listeners[0]?.();
  expect(await failures('0')).toBe(1);
  expect(log()).toMatchObject([{ feature: '0', err: { message: 'a defect' } }]);
  await expect(listeners[1]?.()).rejects.toMatchObject({ code: 'unavailable' });
});

test('Features: one listens to packed hours: the packer of the process gets its listener, and no other', async () => {
  const onPacked = async () => {};
  const { features } = await start({}, { onPacked });
  const listeners: unknown[] = [];
  listenTo(features, { packing: { onPacked: (listener: unknown) => void listeners.push(listener) } });
  expect(listeners).toEqual([onPacked]);
  // A process with the role `http` does not pack.
  listenTo(features);
});
