import { setImmediate as nextTurn } from 'node:timers/promises';
import { beforeAll, expect, test } from '@jest/globals';
import pino from 'pino';
import { Births } from '../../api/ingest/registry/births.ts';
import { Registry } from '../../api/ingest/registry/index.ts';
import { ClockNotices, readSession } from '../../api/ingest/registry/sessions.ts';
import { connectStore, type Store } from '../../api/store/index.ts';
import { Retry } from '../../api/store/sending/retry.ts';
import type { Gate } from '../../api/store/sending/session.ts';
import { MillraceError } from '../../common/errors.ts';
import { type Identity, identifyDevice, identifySensor, type SensorIdentity } from '../../schema/ids.ts';
import { useTestSystem } from '../support/system/use.ts';

/**
 * Registration on the real store. The tests use their own gate, which counts and refuses requests to the database.
 */

const SENSORS = 1000;

const system = useTestSystem();
let store: Store;
const answered: string[] = [];
let inFlight = 0;
let maxInFlight = 0;
/** Every n-th request times out, for n above 0. */
let failEvery = 0;
let sent = 0;
let retries = 0;

const gate: Gate = {
  async enter() {
    await nextTurn();
    if (failEvery > 0 && ++sent % failEvery === 0) throw new MillraceError('unavailable', 'a time-out');
    maxInFlight = Math.max(maxInFlight, ++inFlight);
  },
  leave: () => void inFlight--,
  cancel: () => void inFlight--,
};

beforeAll(async () => {
  const { cql, retention } = system.config;
  const observe = ({ query }: { query: string }) => void answered.push(query);
  store = await connectStore({ cql, retention, gate, observe, onStaleIndex: () => {} });
  system.beforeStop(() => store.close());
});

function openRegistry() {
  const retry = new Retry({ logger: pino({ level: 'silent' }), onRetry: () => void retries++ });
  const groups = system.config.retention.latestGroups;
  const limits = { autoRegister: true, autoRegisterMax: 100 };
  const registry = new Registry({ store: store.write.registry, groups, limits, retry, clock: Date.now });
  const births = new Births({
    registry,
    store: store.write.registry,
    retry,
    clock: Date.now,
    clocks: new ClockNotices({ logger: pino({ level: 'silent' }) }),
  });
  return { registry, births };
}

const device = (name: string) => identifyDevice(name) as Identity;

const sensor = (deviceName: string, name: string, index: number) => ({
  index,
  identity: identifySensor(device(deviceName).id, name) as SensorIdentity,
  name,
});

test('Device birth with 1,000 sensors: some database requests fail: each is retried, at most 16 run at once, and sensor rows are written last', async () => {
  const { births } = openRegistry();
  const types = Array.from({ length: SENSORS }, (_, index) => ({
    ...sensor('large', `s${index}`, index),
    type: `T${index}`,
  }));
  failEvery = 50;
  const receivedAt = Date.now();
  const session = readSession(receivedAt, receivedAt);
  const large = { session, name: 'Large', sensors: types, refused: [] };
  await births.register(device('large'), large, { receivedAt, as: 'live' });
  failEvery = 0;

  expect(retries).toBeGreaterThanOrEqual(SENSORS / 50);
  const count = (name: string) => answered.filter((query) => query === name).length;
  expect(count('index_type')).toBe(SENSORS);
  expect(count('index_name')).toBe(Math.ceil(SENSORS / 256));
  expect(count('write_sensors')).toBe(Math.ceil(SENSORS / 256));
  expect(answered.indexOf('write_sensors')).toBeGreaterThan(answered.lastIndexOf('index_type'));
  expect(maxInFlight).toBe(16);
  expect(await system.all('/latest?device=large&limit=1000')).toHaveLength(SENSORS);
  expect(await system.all(`/latest?type=T${SENSORS - 1}`)).toHaveLength(1);
});
