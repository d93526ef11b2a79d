import { beforeEach, expect, test } from '@jest/globals';
import type { Client } from 'cassandra-driver';
import { DefinitionBook, definitionsOf } from '../../../../api/features/sparkplug/definition-book.ts';
import { decodePayload, type Metric } from '../../../../api/features/sparkplug/payload.ts';
import { createSparkplugStore } from '../../../../api/features/sparkplug/store.ts';
import type { Store } from '../../../../api/store/index.ts';
import { type Identity, identifyDevice } from '../../../../schema/ids.ts';
import { newRetry } from '../../../support/features/sparkplug/memory-edge-node.ts';
import { T0, vector } from '../../../support/features/sparkplug/vectors.ts';
import { createMemoryStore } from '../../../support/memory-store/index.ts';

const DEVICE = identifyDevice('plant/edge-1/press') as Identity;
const HISTORY_DAYS = 400;
const REPEAT_MS = 100 * 86_400_000;

/** kinds of the database requests for births */
let requests: string[] = [];
let store: Store;
let database: Client;

beforeEach(async () => {
  requests = [];
  const memory = await createMemoryStore({
    clock: () => T0,
    around: async (request, run) => {
      if (request.table !== 'sparkplug_birth') return run();
      requests.push(request.kind);
      return run();
    },
  });
  ({ store, database } = memory);
});

const openBook = () =>
  new DefinitionBook({
    store: createSparkplugStore(store.write.session),
    retry: newRetry(),
    historyDays: HISTORY_DAYS,
  });

/** @param bornAt epoch ms */
const definitions = (bornAt: number, name: 'dbirth' | 'dbirthSwapped' = 'dbirth') =>
  definitionsOf(decodePayload(vector(name)).metrics, bornAt);

const metric = (name: string, alias: number): Metric => ({ name, alias, datatype: 10, implied: 0 }) as Metric;

async function rows(): Promise<number[]> {
  const { rows: found } = await database.execute(
    'SELECT born_at, metrics FROM sparkplug_birth WHERE device_id = ? AND born_at <= ?',
    [DEVICE.bytes, new Date(T0 * 2)],
  );
  return found.map((row) => row['born_at'].getTime() - T0).sort((a, b) => a - b);
}

test('Sparkplug alias definitions: a birth repeats the stored definitions: no row is written', async () => {
  const book = openBook();
  await book.write(DEVICE, definitions(T0));
  await book.write(DEVICE, definitions(T0 + 60_000));
  await book.write(DEVICE, definitions(T0 + REPEAT_MS - 1));
  expect(await rows()).toEqual([0]);
});

test('Sparkplug alias definitions: a quarter of HISTORY_DAYS has passed since the row: the birth writes the row again', async () => {
  const book = openBook();
  await book.write(DEVICE, definitions(T0));
  await book.write(DEVICE, definitions(T0 + REPEAT_MS));
  await book.write(DEVICE, definitions(T0 + REPEAT_MS + 1));
  expect(await rows()).toEqual([0, REPEAT_MS]);
});

test('Sparkplug alias definitions: the clock was set back, or two births share a ms: the birth that arrived last is used', async () => {
  const book = openBook();
  await book.write(DEVICE, definitions(T0 + 5000, 'dbirthSwapped'));
  await book.write(DEVICE, definitions(T0));
  await book.write(DEVICE, definitions(T0, 'dbirthSwapped'));
  for (const each of [book, openBook()]) expect((await each.newest(DEVICE))?.names.get(10)).toBe('Count');
  expect(await rows()).toEqual([5000, 5001, 5002]);
});

test('Sparkplug alias definitions: a birth gives an alias two names: the alias is not defined', async () => {
  const twice = [metric('a', 1), metric('b', 1), metric('c', 2), metric('c', 2)];
  const { names } = await openBook().write(DEVICE, definitionsOf(twice, T0));
  expect([...names]).toEqual([[2, 'c']]);
});

test('Sparkplug alias definitions: four reads, three of them at once: the database is read once', async () => {
  await openBook().write(DEVICE, definitions(T0));
  const book = openBook();
  requests = [];
  await Promise.all([1, 2, 3].map(() => book.newest(DEVICE)));
  await book.newest(DEVICE);
  expect(requests).toHaveLength(1);
});

/** @param births one each second */
