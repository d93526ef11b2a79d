import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { Partition, PendingRow } from '../../../../api/store/sending/pending-rows.ts';
import type { Query } from '../../../../api/store/sending/session.ts';
import { type BatchLimits, WriteMerger } from '../../../../api/store/sending/write-merger.ts';
import { MillraceError } from '../../../../common/errors.ts';
import { until } from '../../../support/until.ts';

type Request = { names: string[]; end: (error?: Error) => void };

/** Longer than any test, in ms. */
const LONG_MS = 600_000;

/** Runs all callbacks that are due. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

/** A row with an encoder of the test. */
class TestRow extends PendingRow<never> {
  declare toQueries: () => Query[];

  constructor(name: string, nodes: string, bytes: number, encode: () => Query[]) {
    super(name, new Partition(Buffer.from(nodes)), bytes);
    this.toQueries = encode;
  }
}

const createRow = (
  name: string,
  nodes: string,
  bytes: number = 100,
  encode: () => Query[] = () => [{ query: name, params: [] }],
) => new TestRow(name, nodes, bytes, encode);

/**
 * A merger whose requests end when a test ends them.
 * @param places requests in flight at once
 * @param holdMs longest wait for an answer (default: rows wait for a place only)
 */
function open(places: number, limits?: BatchLimits, holdMs: number = 0) {
  let inUse = 0;
  const queue: Array<() => void> = [];
  const inFlight: Request[] = [];
  /** names of the writes in each request */
  const sent: string[][] = [];
  function leave() {
    inUse--;
    const next = queue.shift();
    if (!next) return;
    inUse++;
    next();
  }
  function enter(): Promise<void> | undefined {
    if (inUse < places && queue.length === 0) {
      inUse++;
      return undefined;
    }
    return new Promise((resolve) => queue.push(resolve));
  }
  const merger = new WriteMerger({
    acquire: enter,
    release: leave,
    send: (_name, queries) =>
      new Promise((resolve, reject) => {
        const names = queries.map(({ query }) => query);
        sent.push(names);
        const request: Request = {
          names,
          end(error) {
            inFlight.splice(inFlight.indexOf(request), 1);
            leave();
            if (error) reject(error);
            else resolve(undefined);
          },
        };
        inFlight.push(request);
      }),
    replicasOf: (routing) => (routing.length > 0 ? routing.toString() : null),
    limits,
    holdMs,
  });
  /** @param nodes names the replicas; empty: unknown */
  function write(name: string, nodes: string, bytes?: number, encode?: () => Query[]) {
    const done = merger.write(createRow(name, nodes, bytes, encode));
    done.catch(() => {});
    return done;
  }
  return { merger, write, sent, inFlight, enter, leave, places: () => inUse };
}

test('Write merger: two writes of one event-loop turn have the same replicas: sent in one request', async () => {
  const { write, sent, inFlight } = open(10);
  const done = Promise.all([write('row', '123'), write('latest', '123')]);
  await settle();
  expect(sent).toEqual([['row', 'latest']]);
  inFlight[0]?.end();
  await done;
});

test('Write merger: no request is in flight: a write is sent alone in the same event-loop turn', async () => {
  const { write, sent } = open(1);
  void write('a', '1');
  await new Promise((resolve) => process.nextTick(resolve));
  expect(sent).toEqual([['a']]);
});

test('Write merger: a request is in flight: writes to the same replicas wait for its answer, and leave together', async () => {
  const { merger, write, sent, inFlight } = open(10, undefined, LONG_MS);
  void write('first', '1');
  await settle();
  for (const name of ['a', 'b', 'c']) {
    void write(name, '1');
    await settle();
  }
  void write('other', '2');
  void write('unknown', '');
  await settle();
  expect(sent).toEqual([['first'], ['other'], ['unknown']]);
  expect(merger.waiting).toBe(0);
  inFlight[0]?.end();
  await settle();
  expect(sent.at(-1)).toEqual(['a', 'b', 'c']);
});

test('Write merger: a request fails while writes to its replicas wait: the waiting writes are sent', async () => {
  const { write, sent, inFlight } = open(10, undefined, LONG_MS);
  void write('first', '1');
  await settle();
  void write('a', '1');
  await settle();
  inFlight[0]?.end(new MillraceError('unavailable', 'timed out'));
  await settle();
  expect(sent).toEqual([['first'], ['a']]);
});

test('Write merger: waiting writes fill a request: sent before the answer, and later writes wait again', async () => {
  const { write, sent } = open(10, { partitions: 3, bytes: 1000 }, LONG_MS);
  void write('first', '1');
  await settle();
  for (const name of ['a', 'b', 'c', 'd']) {
    void write(name, '1');
    await settle();
  }
  void write('large', '1', 900);
  await settle();
  expect(sent).toEqual([['first'], ['a', 'b', 'c'], ['d', 'large']]);
});

test('Write merger: messages join a waiting row until it fills a request: the row is sent before the answer', async () => {
  const { merger, write, sent } = open(10, { partitions: 3, bytes: 1000 }, LONG_MS);
  void write('first', '1');
  await settle();
  const row = createRow('joined', '1', 600);
  void merger.write(row);
  await settle();
  row.grow(400);
  void write('other', '2');
  await settle();
  expect(sent).toEqual([['first'], ['other'], ['joined']]);
  // The next row begins at 0 bytes.
  void write('next', '1', 900);
  await settle();
  expect(sent).toHaveLength(3);
});

test('Write merger: messages join a row whose permit was refused: later rows of its replicas are held as before', async () => {
  let isRefused = true;
  const sent: string[][] = [];
  const merger = new WriteMerger({
    acquire: () => (isRefused ? Promise.reject(new MillraceError('unavailable', 'no permit')) : undefined),
    release: () => {},
    send: (_name, queries) => {
      sent.push(queries.map(({ query }) => query));
      return new Promise(() => {});
    },
    replicasOf: (routing) => routing.toString(),
    limits: { partitions: 3, bytes: 1000 },
    holdMs: LONG_MS,
  });
  const row = createRow('row', '1');
  await expect(merger.write(row)).rejects.toThrow('no permit');
  row.grow(900);
  isRefused = false;
  void merger.write(row);
  await settle();
  void merger.write(createRow('held', '1'));
  await settle();
  expect(sent).toEqual([['row']]);
});

test('Write merger: no answer within the hold time: waiting writes are sent without waiting longer', async () => {
  const { write, sent, inFlight } = open(10, undefined, 1);
  void write('first', '1');
  await settle();
  void write('a', '1');
  await until(() => sent.length === 2);
  void write('b', '1');
  await until(() => sent.length === 3);
  expect(sent).toEqual([['first'], ['a'], ['b']]);
  expect(inFlight).toHaveLength(3);
});

test('Write merger: writes wait for a permit: those to the same replicas leave together, in order, at most ten', async () => {
  const { merger, write, sent, inFlight } = open(1);
  void write('first', '1');
  await settle();
  for (let at = 0; at < 12; at++) void write(`a${at}`, '1');
  void write('b', '2');
  await settle();
  expect(merger.waiting).toBe(13);
  while (inFlight[0]) {
    inFlight[0].end();
    await settle();
  }
  expect(sent.map((names) => names.join(' '))).toEqual([
    'first',
    'a0 a1 a2 a3 a4 a5 a6 a7 a8 a9',
    'a10 a11',
    'b',
  ]);
  expect(merger.waiting).toBe(0);
});

test('Write merger: the database allows larger batches: a request has as many partitions and bytes as allowed', async () => {
  const { write, sent, inFlight } = open(1, { partitions: 40, bytes: 32 * 1024 });
  void write('first', '1');
  await settle();
  for (let at = 0; at < 50; at++) void write(`a${at}`, '1');
  for (let at = 0; at < 12; at++) void write(`large ${at}`, '2', 3000);
  while (inFlight[0]) {
    inFlight[0].end();
    await settle();
  }
  expect(sent.map(({ length }) => length)).toEqual([1, 40, 10, 10, 2]);
});

test('Write merger: a row waits for its request: encoded only when the request is sent', async () => {
  const { write, inFlight } = open(1);
  void write('first', '1');
  await settle();
  let asked = 0;
  void write('late', '1', 100, () => {
    asked++;
    return [{ query: 'late', params: [] }];
  });
  await settle();
  expect(asked).toBe(0);
  inFlight[0]?.end();
  await settle();
  expect(asked).toBe(1);
});

test('Write merger: a batch times out: each write is rejected, and sent alone at its retry', async () => {
  const { merger, write, sent, inFlight } = open(1);
  void write('first', '1');
  await settle();
  const rows = ['a', 'b'].map((name) => createRow(name, '1'));
  const done = rows.map((row) => merger.write(row));
  inFlight[0]?.end();
  await settle();
  inFlight[0]?.end(new MillraceError('unavailable', 'timed out'));
  expect((await Promise.allSettled(done)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  for (const row of rows) void merger.write(row);
  await settle();
  inFlight[0]?.end();
  await settle();
  expect(sent).toEqual([['first'], ['a', 'b'], ['a'], ['b']]);
});

test('Write merger: database refuses a batch: each write is retried alone, and only the invalid write is rejected', async () => {
  const { write, inFlight, places } = open(2);
  const done = [write('bad', '1'), write('good', '1')];
  await settle();
  inFlight[0]?.end(new MillraceError('rejected', 'no'));
  await settle();
  for (const { names, end } of [...inFlight])
    end(names[0] === 'bad' ? new MillraceError('rejected', 'no') : undefined);
  expect((await Promise.allSettled(done)).map(({ status }) => status)).toEqual(['rejected', 'fulfilled']);
  expect(places()).toBe(0);
});

test('Write merger: the encoding of two rows fails: their writes are rejected, other writes are sent', async () => {
  const { write, sent, inFlight, places } = open(1);
  const broken = () => {
    throw new RangeError('no samples');
  };
  const done = [write('a', '1', 100, broken), write('b', '1'), write('c', '2', 100, broken), write('d', '2')];
  await settle();
  while (inFlight[0]) {
    inFlight[0].end();
    await settle();
  }
  expect((await Promise.allSettled(done)).map(({ status }) => status)).toEqual([
    'rejected',
    'fulfilled',
    'rejected',
    'fulfilled',
  ]);
  expect(sent).toEqual([['b'], ['d']]);
  expect(places()).toBe(0);
});

test('Write merger: any writes, answers and failures: each write ends once, within the limits, and no permit is lost', async () => {
  const step = fc.oneof(
    { weight: 3, arbitrary: fc.record({ nodes: fc.constantFrom('', '1', '2'), bytes: fc.nat(6000) }) },
    {
      weight: 2,
      arbitrary: fc.record({ end: fc.nat(3), code: fc.constantFrom('', '', 'unavailable', 'rejected') }),
    },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 60 }),
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(0, LONG_MS),
      async (steps, most, holdMs) => {
        const { write, sent, inFlight, places } = open(most, undefined, holdMs);
        const done: Array<Promise<void>> = [];
        const written: Map<string, { nodes: string; bytes: number }> = new Map();
        for (const each of steps) {
          if ('nodes' in each) {
            const name = `w${done.length}`;
            written.set(name, each);
            done.push(write(name, each.nodes, each.bytes));
          } else {
            const { code } = each;
            inFlight[each.end % Math.max(1, inFlight.length)]?.end(
              code === '' ? undefined : new MillraceError(code as 'rejected', 'no'),
            );
          }
          await settle();
          expect(places()).toBeLessThanOrEqual(most);
        }
        while (inFlight[0]) {
          inFlight[0].end();
          await settle();
        }
        await Promise.allSettled(done);
        expect(places()).toBe(0);
        for (const names of sent) {
          const members = names.map((name) => written.get(name) as { nodes: string; bytes: number });
          expect(new Set(members.map(({ nodes }) => nodes)).size).toBe(1);
          if (members.length === 1) continue;
          expect(members[0]?.nodes).not.toBe('');
          expect(members.length).toBeLessThanOrEqual(10);
          expect(members.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThanOrEqual(5 * 1024);
        }
        expect(new Set(sent.flat()).size).toBe(done.length);
      },
    ),
    { numRuns: 100 },
  );
});

test('Write merger: the size of a write throws an error: that write is rejected, and the others are sent', async () => {
  const { merger, write, sent } = open(10);
  const broken = createRow('defect', '1');
  Object.defineProperty(broken, 'bytes', {
    get() {
      throw new TypeError('no size');
    },
  });
  const defect = merger.write(broken);
  void write('a', '1');
  await expect(defect).rejects.toThrow('no size');
  await settle();
  expect(sent).toEqual([['a']]);
  void write('b', '1');
  await settle();
  expect(sent).toEqual([['a'], ['b']]);
});
