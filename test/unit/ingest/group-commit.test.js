import { expect, jest, test } from '@jest/globals';
import fc from 'fast-check';
import { GroupCommit } from '../../../api/ingest/latest-writer.js';

/** @typedef {{ key: number, value: number }} Update merged by the greater value */
/** @typedef {{ group: number, updates: Update[], send: () => void, end: (error?: Error) => void }} Commit one that is under way */

/** A group commit whose commits are sent, and end, when the test resolves them. */
function createBench() {
  /** @type {Commit[]} */
  const inFlight = [];
  /** @type {Commit[]} */
  const seen = [];
  const groups = new GroupCommit({
    commit: (group, take) =>
      new Promise((resolve, reject) => {
        let sent = false;
        /** @type {Commit} */
        const commit = {
          group,
          updates: [],
          send: () => {
            if (!sent) commit.updates = take();
            sent = true;
          },
          end: (error) => {
            commit.send();
            inFlight.splice(inFlight.indexOf(commit), 1);
            if (error) reject(error);
            else resolve(undefined);
          },
        };
        inFlight.push(commit);
        seen.push(commit);
      }),
    merge: (/** @type {Update} */ a, /** @type {Update} */ b) => (b.value > a.value ? b : a),
  });
  return { groups, inFlight, seen };
}

/** Lets everything go on that waits for what has happened. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ add: fc.nat(2), key: fc.nat(5), value: fc.nat(1000), last: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ send: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ end: fc.nat(2), fails: fc.boolean() }) },
);

test('Group commit: updates arrive in any order: each is committed once, one write per group is in flight, and failures reject the waiting callers', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { groups, inFlight, seen } = createBench();
      /** @type {Map<Commit, 'ok' | Error>} */
      const ended = new Map();
      /** @type {Array<{ group: number, key: number, value: number, outcome?: 'ok' | Error }>} */
      const added = [];
      /** @param {Commit} commit @param {boolean} fails */
      const end = async (commit, fails) => {
        const error = fails ? new Error('refused') : undefined;
        ended.set(commit, error ?? 'ok');
        commit.end(error);
        await settle();
      };
      for (const one of steps) {
        if (!('add' in one)) await settle();
        if ('add' in one) {
          const { add: group, key, value } = one;
          /** @type {typeof added[number]} */
          const entry = { group, key, value };
          added.push(entry);
          groups.add(group, key, { key, value }).then(
            () => (entry.outcome = 'ok'),
            (error) => (entry.outcome = error),
          );
          // Those after it are added in a later turn.
          if (one.last) await settle();
        } else if ('send' in one) {
          inFlight.find(({ group }) => group === one.send)?.send();
        } else {
          const commit = inFlight.find(({ group }) => group === one.end);
          if (commit) await end(commit, one.fails);
        }
        const busy = inFlight.map(({ group }) => group);
        expect(new Set(busy).size).toBe(busy.length);
      }
      await settle();
      for (let next = inFlight[0]; next; next = inFlight[0]) await end(next, false);

      for (const { updates } of seen) {
        expect(new Set(updates.map(({ key }) => key)).size).toBe(updates.length);
      }
      for (const { group, key, value, outcome } of added) {
        // It went out in one that held it, or something greater of its key, and ended as that one did.
        const outcomes = seen
          .filter(
            (commit) =>
              commit.group === group && commit.updates.some((one) => one.key === key && one.value >= value),
          )
          .map((commit) => ended.get(commit));
        expect(outcomes).toContain(outcome);
      }
      // Nothing was written that nobody added.
      for (const { group, updates } of seen) {
        for (const update of updates) {
          expect(added).toContainEqual(expect.objectContaining({ group, ...update }));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('Group commit: a batch: closed when it is sent, full at 2,000 entries; the rest leaves after it', async () => {
  const { groups, inFlight, seen } = createBench();
  const add = (/** @type {number} */ key) => groups.add(0, key, { key, value: 1 });
  const first = [add(-2), add(-1)];
  await settle();
  inFlight[0]?.send();
  const count = 2 * 2000 + 9;
  const all = Promise.all([...first, ...Array.from({ length: count }, (_, key) => add(key))]);
  for (let next = inFlight[0]; next; next = inFlight[0]) {
    next.end();
    await settle();
  }
  await all;
  expect(seen.map(({ updates }) => updates.length)).toEqual([2, 2000, 2000, 9]);
});

test('Group commit: updates with several entries: a batch is full at 2,000 entries, and a single update may have more', async () => {
  /** @type {string[][]} */
  const sent = [];
  /** @type {Array<() => void>} */
  const ends = [];
  const groups = new GroupCommit({
    commit: (_, take) => {
      sent.push(take().map(({ name }) => name));
      return new Promise((resolve) => ends.push(() => resolve(undefined)));
    },
    merge: (/** @type {{ name: string, entries: number }} */ a) => a,
    weigh: ({ entries }) => entries,
  });
  const add = (/** @type {string} */ name, /** @type {number} */ entries) =>
    groups.add(0, name, { name, entries });
  const all = [add('first', 1)];
  await settle();
  all.push(add('a', 1500), add('b', 500), add('c', 1), add('d', 5000), add('e', 1));
  while (ends.length > 0) {
    ends.shift()?.();
    await settle();
  }
  await Promise.all(all);
  expect(sent).toEqual([['first'], ['a', 'b'], ['c'], ['d'], ['e']]);
});

test('Group commit: several updates of one turn: one batch, and each resolves after its commit', async () => {
  const groups = new GroupCommit({
    // A commit that may be sent at once takes its updates at once.
    commit: async (_, take) => {
      sent.push(take());
      await committed;
    },
    merge: (/** @type {number} */ a, /** @type {number} */ b) => Math.max(a, b),
  });
  /** @type {number[][]} */
  const sent = [];
  let commit = () => {};
  const committed = new Promise((resolve) => (commit = () => resolve(undefined)));
  const settled = jest.fn();
  const all = Promise.all([1, 2, 3].map((key) => groups.add(0, key, key))).then(settled);
  await settle();
  expect(sent).toEqual([[1, 2, 3]]);
  expect(settled).not.toHaveBeenCalled();
  commit();
  await all;
  expect(settled).toHaveBeenCalled();
});

test('Group commit: a failure: reported to its callers, and only to them', async () => {
  const { groups, inFlight } = createBench();
  const first = groups.add(0, 'a', { key: 1, value: 1 });
  await settle();
  inFlight[0]?.send();
  const second = groups.add(0, 'b', { key: 2, value: 2 });
  const third = groups.add(0, 'b', { key: 2, value: 3 });
  const elsewhere = groups.add(1, 'a', { key: 1, value: 1 });
  await settle();
  inFlight[0]?.end();
  await first;
  const failing = Promise.allSettled([second, third]);
  inFlight.find(({ group }) => group === 0)?.end(new Error('refused'));
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  inFlight[0]?.end();
  await elsewhere;
  // The group is free again.
  const after = groups.add(0, 'c', { key: 3, value: 1 });
  await settle();
  inFlight[0]?.end();
  await after;
});
