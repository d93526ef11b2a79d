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
/** Write requests wait for this promise. */
let held: Promise<unknown> | undefined;
let store: Store;
let database: Client;

beforeEach(async () => {
  requests = [];
  held = undefined;
  const memory = await createMemoryStore({
    clock: () => T0,
    around: async (request, run) => {
      if (request.table !== 'sparkplug_birth') return run();
      requests.push(request.kind);
      if (request.kind !== 'select') await held;
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

test('Sparkplug alias definitions: the row of a birth is not committed yet: write() does not resolve', async () => {
  let commit = () => {};
  held = new Promise((resolve) => {
    commit = () => resolve(undefined);
  });
  let settled = false;
  const entering = openBook()
    .write(DEVICE, definitions(T0))
    .then(() => {
      settled = true;
    });
  for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
  expect([settled, requests.length]).toEqual([false, 2]);
  commit();
  await entering;
  expect(await rows()).toEqual([0]);
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

test('Sparkplug alias definitions: an alias had another name in an earlier birth: reported as contested', async () => {
  const book = openBook();
  await book.write(DEVICE, definitionsOf([metric('a', 1), metric('b', 2)], T0));
  await book.write(DEVICE, definitionsOf([metric('b', 2)], T0 + 1));
  const { contested } = await book.write(DEVICE, definitionsOf([metric('c', 1), metric('b', 2)], T0 + 2));
  expect([...contested]).toEqual([1]);
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
async function enterAll(births: Array<[name: string, alias: number][]>) {
  const book = openBook();
  for (const [index, entries] of births.entries()) {
    const metrics = entries.map(([name, alias]) => metric(name, alias));
    await book.write(DEVICE, definitionsOf(metrics, T0 + 1000 * index));
  }
  return book;
}

/** @param ms since T0 */
const aliases = async (book: DefinitionBook, ms: number) => [
  ...((await book.certainAt(DEVICE, T0 + ms))?.names ?? []),
];

test('Replay with Sparkplug aliases: births before and after the dead letter are equal: aliases are resolved', async () => {
  const birth = [
    ['a', 1],
    ['b', 2],
  ] as Array<[string, number]>;
  expect(await aliases(await enterAll([birth, birth]), 500)).toEqual([
    [1, 'a'],
    [2, 'b'],
  ]);
});

test('Replay with Sparkplug aliases: births before and after the dead letter differ in one alias: no alias is resolved', async () => {
  const book = await enterAll([
    [
      ['a', 1],
      ['b', 2],
    ],
    [
      ['a', 1],
      ['c', 2],
    ],
  ]);
  expect(await aliases(book, 500)).toEqual([]);
});
