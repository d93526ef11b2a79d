import { beforeEach, describe, expect, test } from '@jest/globals';
import { DefinitionBook, definitionsOf } from '../../../../api/ingest/sparkplug/definition-book.js';
import { decodePayload } from '../../../../api/ingest/sparkplug/payload.js';
import { identifyDevice } from '../../../../schema/ids.js';
import { newRetry } from '../../../support/memory-edge-node.js';
import { createMemoryStore } from '../../../support/memory-store/index.js';
import { T0, vector } from '../../../support/sparkplug-vectors.js';

/** @import { Client } from 'cassandra-driver' */
/** @import { Store } from '../../../../api/store/index.js' */
/** @import { Identity } from '../../../../schema/ids.js' */

const DEVICE = /** @type {Identity} */ (identifyDevice('plant/edge-1/press'));
const HISTORY_DAYS = 400;
const REPEAT_MS = 100 * 86_400_000;

/** @type {string[]} requests for births, by what they do */
let requests = [];
/** Requests wait for this before they are sent. @type {Promise<unknown> | undefined} */
let held;
/** @type {Store} */
let store;
/** @type {Client} */
let database;

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
  new DefinitionBook({ store: store.sparkplug, retry: newRetry(), historyDays: HISTORY_DAYS });

/** @param {number} bornAt epoch ms @param {'dbirth' | 'dbirthSwapped'} [name] */
const definitions = (bornAt, name = 'dbirth') => definitionsOf(decodePayload(vector(name)).metrics, bornAt);

/** @returns {Promise<number[]>} when the births that stand in the database were, in ms since T0 */
async function rows() {
  const { rows: found } = await database.execute(
    'SELECT born_at, metrics FROM sparkplug_birth WHERE device_id = ? AND born_at <= ?',
    [DEVICE.bytes, new Date(T0 * 2)],
  );
  return found.map((row) => row['born_at'].getTime() - T0).sort((a, b) => a - b);
}

describe('Definition book: a birth is entered', () => {
  test('its definitions are unchanged: no row is written', async () => {
    const book = openBook();
    await book.enter(DEVICE, definitions(T0));
    await book.enter(DEVICE, definitions(T0 + 60_000));
    await book.enter(DEVICE, definitions(T0 + REPEAT_MS - 1));
    expect(await rows()).toEqual([0]);
  });

  test('another process has entered the same: no row is written', async () => {
    await openBook().enter(DEVICE, definitions(T0));
    await openBook().enter(DEVICE, definitions(T0 + 60_000));
    expect(await rows()).toEqual([0]);
  });

  test('a quarter of the history has passed since: the row is written again', async () => {
    const book = openBook();
    await book.enter(DEVICE, definitions(T0));
    await book.enter(DEVICE, definitions(T0 + REPEAT_MS));
    await book.enter(DEVICE, definitions(T0 + REPEAT_MS + 1));
    expect(await rows()).toEqual([0, REPEAT_MS]);
  });

  test('the write is under way: it is not settled before the commit', async () => {
    let commit = () => {};
    held = new Promise((resolve) => {
      commit = () => resolve(undefined);
    });
    let settled = false;
    const entering = openBook()
      .enter(DEVICE, definitions(T0))
      .then(() => {
        settled = true;
      });
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    expect([settled, requests.length]).toEqual([false, 2]);
    commit();
    await entering;
    expect(await rows()).toEqual([0]);
  });

  test('its definitions differ: a row is written', async () => {
    const book = openBook();
    await book.enter(DEVICE, definitions(T0));
    await book.enter(DEVICE, definitions(T0 + 1000, 'dbirthSwapped'));
    expect(await rows()).toEqual([0, 1000]);
  });

  test('it is older than the newest: the newest goes on to hold', async () => {
    const book = openBook();
    await book.enter(DEVICE, definitions(T0 + 5000, 'dbirthSwapped'));
    await book.enter(DEVICE, definitions(T0));
    expect((await book.at(DEVICE, T0 + 6000))?.bornAt).toBe(T0 + 5000);
    expect((await book.at(DEVICE, T0 + 4999))?.bornAt).toBe(T0);
    expect(await rows()).toEqual([0, 5000]);
  });

  test('it has the same time and other definitions: the last one is valid', async () => {
    const book = openBook();
    await book.enter(DEVICE, definitions(T0));
    await book.enter(DEVICE, definitions(T0, 'dbirthSwapped'));
    expect((await book.at(DEVICE, T0))?.names.get(10)).toBe('Count');
  });
});

describe('Definition book: data is read', () => {
  test('no birth is known: there are no definitions', async () => {
    expect(await openBook().at(DEVICE, T0)).toBeNull();
  });

  test('after a restart: the database knows what the birth defined', async () => {
    await openBook().enter(DEVICE, definitions(T0));
    const found = await openBook().at(DEVICE, T0 + 1);
    expect(found).toMatchObject({ bornAt: T0 });
    expect(found?.names.get(10)).toBe('Temperature');
    expect(found?.datatypes.get('Count')).toBe(4);
  });

  test('it is older than the newest birth: the birth of then holds, from its own moment on', async () => {
    const book = openBook();
    await book.enter(DEVICE, definitions(T0));
    await book.enter(DEVICE, definitions(T0 + 5000, 'dbirthSwapped'));
    for (const each of [book, openBook()]) {
      expect((await each.at(DEVICE, T0 + 4999))?.bornAt).toBe(T0);
      expect((await each.at(DEVICE, T0 + 5000))?.bornAt).toBe(T0 + 5000);
      expect(await each.at(DEVICE, T0 - 1)).toBeNull();
    }
  });

  test('many ask at once, and again: the database is asked once', async () => {
    await openBook().enter(DEVICE, definitions(T0));
    const book = openBook();
    requests = [];
    await Promise.all([1, 2, 3].map((ms) => book.at(DEVICE, T0 + ms)));
    await book.at(DEVICE, T0 + 4);
    await book.at(DEVICE, T0);
    expect(requests).toHaveLength(1);
  });
});
