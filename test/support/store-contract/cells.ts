import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from 'cassandra-driver';
import type { Store } from '../../../api/store/index.ts';

/** The subject of every test of the contract. */
export interface ContractSubject {
  store: Store;
  /** client that executes CQL in the store's database */
  database: Client;
  /** settles when values with a TTL of 1 s have expired */
  afterTwoSeconds: (isExpired: () => Promise<boolean>) => Promise<void>;
}

const WRITE =
  'UPDATE sensor USING TIMESTAMP ? SET interval_ms = ? WHERE grp = ? AND device_id = ? AND sensor_id = ?';
const READ =
  'SELECT interval_ms, unit, WRITETIME(interval_ms) AS stamp FROM sensor WHERE grp = ? AND device_id = ? AND sensor_id = ?';
const DELETE_ROW = 'DELETE FROM sensor USING TIMESTAMP ? WHERE grp = ? AND device_id = ? AND sensor_id = ?';
const DELETE_CELL =
  'DELETE interval_ms FROM sensor USING TIMESTAMP ? WHERE grp = ? AND device_id = ? AND sensor_id = ?';
const INSERT =
  'INSERT INTO sensor (grp, device_id, sensor_id, interval_ms, unit) VALUES (?, ?, ?, ?, ?) USING TIMESTAMP ?';

/** Tests the behavior of cells, on which all rules about idempotency and order depend. */
export function describeCells(subject: () => ContractSubject) {
  let context: ContractSubject;
  beforeAll(() => {
    context = subject();
  });

  const newKey = () => [7, randomUUID(), randomUUID()];
  const run = (cql: string, params: unknown[], options?: object) =>
    context.database.execute(cql, params, { prepare: true, ...options });
  const read = async (key: unknown[]) => {
    const row = (await run(READ, key)).first();
    return (
      row && { value: row['interval_ms'], unit: row['unit'], stamp: row['stamp'] && Number(row['stamp']) }
    );
  };
  const storedValue = async (key: unknown[]) => (await read(key))?.value ?? null;

  describe('cells', () => {
    test.each([
      [
        'a later write timestamp',
        [
          [5, 9],
          [6, 1],
        ],
        1,
      ],
      [
        'an earlier write timestamp',
        [
          [6, 1],
          [5, 9],
        ],
        1,
      ],
      [
        'the same write timestamp and greater bytes',
        [
          [5, 1],
          [5, 2],
        ],
        2,
      ],
      [
        'the same write timestamp and smaller bytes',
        [
          [5, 2],
          [5, 1],
        ],
        2,
      ],
      [
        'the same write timestamp, a negative number has greater bytes',
        [
          [5, 2],
          [5, -1],
        ],
        -1,
      ],
    ])('Store: cell write with %s: later timestamp, then greater bytes win', async (_, writes, expected) => {
      const key = newKey();
      for (const [stamp, value] of writes) await run(WRITE, [stamp, value, ...key]);
      expect(await storedValue(key)).toBe(expected);
    });

    test('Store: writes without a write timestamp: the last write wins', async () => {
      const key = newKey();
      const plain = WRITE.replace(' USING TIMESTAMP ?', '');
      for (const value of [1, 3, 2]) await run(plain, [value, ...key]);
      expect(await storedValue(key)).toBe(2);
      const age = Date.now() - Number((await read(key))?.stamp) / 1000;
      expect(Math.abs(age)).toBeLessThan(60_000);
    });

    test('Store: row is deleted: cells up to the write timestamp of the deletion are deleted, later cells stay', async () => {
      const key = newKey();
      await run(WRITE, [5, 1, ...key]);
      await run(DELETE_ROW, [5, ...key]);
      expect(await read(key)).toBeNull();
      await run(WRITE, [5, 2, ...key]);
      expect(await read(key)).toBeNull();
      await run(WRITE, [6, 3, ...key]);
      expect(await read(key)).toEqual({ value: 3, unit: null, stamp: 6 });
    });

    test('Store: cell is deleted: the deletion wins against a value of the same write timestamp', async () => {
      const key = newKey();
      await run(INSERT, [...key, 1, 'V', 5]);
      await run(DELETE_CELL, [5, ...key]);
      expect(await read(key)).toEqual({ value: null, unit: 'V', stamp: null });
    });

    test('Store: partition is deleted: rows with a later write timestamp stay', async () => {
      const [, device] = newKey();
      const insert =
        'INSERT INTO sparkplug_node (node_id, device, bd_seq) VALUES (?, ?, ?) USING TIMESTAMP ?';
      for (const [name, stamp] of [
        ['a', 5],
        ['b', 7],
      ])
        await run(insert, [device, name, 1, stamp]);
      await run('DELETE FROM sparkplug_node USING TIMESTAMP ? WHERE node_id = ?', [6, device]);
      await run(insert, [device, 'c', 1, 6]);
      const { rows } = await run('SELECT device FROM sparkplug_node WHERE node_id = ? AND device > ?', [
        device,
        '',
      ]);
      expect(rows.map((row) => row['device'])).toEqual(['b']);
    });

    test('Store: write of null or undefined: null empties the cell, undefined leaves it unchanged', async () => {
      const key = newKey();
      await run(INSERT, [...key, 1, 'V', 5]);
      await run(INSERT, [...key, undefined, null, 6]);
      expect(await read(key)).toEqual({ value: 1, unit: null, stamp: 5 });
    });

    test('Store: INSERT and UPDATE without a value: the inserted row exists, the updated row does not', async () => {
      const [inserted, updated] = [newKey(), newKey()];
      await run(INSERT, [...inserted, undefined, undefined, 5]);
      expect(await read(inserted)).toEqual({ value: null, unit: null, stamp: null });
      await run(WRITE, [5, null, ...updated]);
      expect(await read(updated)).toBeNull();
    });

    test('Store: value has a TTL of a second: the value expires, and values without a TTL stay', async () => {
      const key = newKey();
      await run(
        'UPDATE sensor USING TTL 1 SET interval_ms = ? WHERE grp = ? AND device_id = ? AND sensor_id = ?',
        [1, ...key],
      );
      await run('UPDATE sensor SET unit = ? WHERE grp = ? AND device_id = ? AND sensor_id = ?', [
        'V',
        ...key,
      ]);
      await context.afterTwoSeconds(async () => (await storedValue(key)) === null);
      expect(await read(key)).toEqual({ value: null, unit: 'V', stamp: null });
    });

    test('Store: statement names an unknown column or table, or a key is null: the database refuses it', async () => {
      const key = newKey();
      await expect(run(WRITE.replace('interval_ms', 'volume'), [5, 1, ...key])).rejects.toMatchObject({
        code: 0x2200,
      });
      await expect(run(WRITE.replace('sensor ', 'nothing '), [5, 1, ...key])).rejects.toMatchObject({
        code: 0x2200,
      });
      await expect(run(WRITE, [5, 1, null, key[1], key[2]])).rejects.toMatchObject({ code: 0x2200 });
    });

    test('Store: rows are read in pages: each row is returned once, in the order of the key, up to the limit', async () => {
      const [, device] = newKey();
      const births = Array.from({ length: 25 }, (_, i) => (i * 7) % 25);
      for (const born of births) {
        await run('INSERT INTO sparkplug_birth (device_id, born_at, metrics) VALUES (?, ?, ?)', [
          device,
          new Date(born),
          `${born}`,
        ]);
      }
      const cql = 'SELECT metrics FROM sparkplug_birth WHERE device_id = ? AND born_at < ?';
      const readPages = async (query: string, params: unknown[]) => {
        const found = [];
        let pageState: string | undefined;
        do {
          const page = await run(query, params, { fetchSize: 4, pageState });
          found.push(...page.rows.map((row) => Number(row['metrics'])));
          pageState = page.pageState;
        } while (pageState && found.length < 100);
        return found;
      };
      const expected = Array.from({ length: 20 }, (_, i) => 19 - i);
      expect(await readPages(cql, [device, new Date(20)])).toEqual(expected);
      expect(await readPages(`${cql} LIMIT ?`, [device, new Date(20), 10])).toEqual(expected.slice(0, 10));
    });
  });
}
