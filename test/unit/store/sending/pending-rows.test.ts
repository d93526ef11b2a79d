import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import pino from 'pino';
import { Partition, PendingRow, PendingRows } from '../../../../api/store/sending/pending-rows.ts';
import { Retry } from '../../../../api/store/sending/retry.ts';
import type { Query } from '../../../../api/store/sending/session.ts';

/** merged by the greater value */
type Update = { key: number; value: number };
/** a write in flight */
type Commit = { group: number; updates: Update[]; send: () => void; end: (error?: Error) => void };

/** A row of updates, merged by key. */
class TestRow extends PendingRow<Update> {
  updates: Map<number, Update> = new Map();

  constructor(partition: Partition, update: Update) {
    super('test', partition, 1);
    this.updates.set(update.key, update);
  }

  override join(update: Update): boolean {
    const known = this.updates.get(update.key);
    if (!known || update.value > known.value) this.updates.set(update.key, update);
    return true;
  }

  override toQueries(): Query[] {
    return [{ query: 'test', params: [...this.updates.values()] }];
  }
}

/** Pending rows of three groups, one write per group at a time. The test decides when a write is sent and ends. */
function createBench() {
  const inFlight: Commit[] = [];
  const seen: Commit[] = [];
  const groupOf: Map<Partition, number> = new Map();
  const session = {
    writeMerged: (row: PendingRow<unknown>) =>
      new Promise((resolve, reject) => {
        let sent = false;
        const commit: Commit = {
          group: Number(groupOf.get(row.partition)),
          updates: [],
          send: () => {
            if (!sent) commit.updates = row.encode().flatMap(({ params }) => params) as Update[];
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
      }) as Promise<void>,
  };
  const retry = new Retry({ logger: pino({ level: 'silent' }), onRetry: () => {} });
  const rows = new PendingRows({ session, retry, isSequential: true });
  const partitions = [0, 1, 2].map((group) => new Partition(Buffer.from([group])));
  for (const [group, partition] of partitions.entries()) groupOf.set(partition, group);
  function add(group: number, update: Update) {
    const partition = partitions[group] as Partition;
    const { open } = partition;
    return open?.join(update) ? open.done : rows.open(new TestRow(partition, update)).done;
  }
  return { add, inFlight, seen };
}

/** Runs all callbacks that are due. */
const settle = () => new Promise((resolve) => setImmediate(resolve));

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ add: fc.nat(2), key: fc.nat(5), value: fc.nat(1000), endsTurn: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ send: fc.nat(2) }) },
  { weight: 1, arbitrary: fc.record({ end: fc.nat(2), fails: fc.boolean() }) },
);

test('Group commit: updates in any order: each is committed, one write per device group at a time, failures reject', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { add, inFlight, seen } = createBench();
      const ended: Map<Commit, 'ok' | Error> = new Map();
      const added: Array<{ group: number; key: number; value: number; outcome?: 'ok' | Error }> = [];
      const end = async (commit: Commit, fails: boolean) => {
        const error = fails ? new Error('refused') : undefined;
        ended.set(commit, error ?? 'ok');
        commit.end(error);
        await settle();
      };
      for (const one of steps) {
        if (!('add' in one)) await settle();
        if ('add' in one) {
          const { add: group, key, value } = one;
          const entry: (typeof added)[number] = { group, key, value };
          added.push(entry);
          add(group, { key, value }).then(
            () => (entry.outcome = 'ok'),
            (error) => (entry.outcome = error),
          );
          // The following updates are added in a later turn.
          if (one.endsTurn) await settle();
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
        // Some commit held this update, or a greater one of its key. The update must share the outcome of that commit.
        const outcomes = seen
          .filter(
            (commit) =>
              commit.group === group && commit.updates.some((one) => one.key === key && one.value >= value),
          )
          .map((commit) => ended.get(commit));
        expect(outcomes).toContain(outcome);
      }
      // Each written update must have been added.
      for (const { group, updates } of seen) {
        for (const update of updates) {
          expect(added).toContainEqual(expect.objectContaining({ group, ...update }));
        }
      }
    }),
    { numRuns: 60 },
  );
});

test('Group commit: a commit fails: only the updates in its row are rejected', async () => {
  const { add, inFlight } = createBench();
  const first = add(0, { key: 1, value: 1 });
  await settle();
  inFlight[0]?.send();
  const second = add(0, { key: 2, value: 2 });
  const third = add(0, { key: 2, value: 3 });
  const elsewhere = add(1, { key: 1, value: 1 });
  await settle();
  inFlight[0]?.end();
  await first;
  await settle();
  const failing = Promise.allSettled([second, third]);
  inFlight.find(({ group }) => group === 0)?.end(new Error('refused'));
  expect((await failing).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  inFlight[0]?.end();
  await elsewhere;
  // The group accepts updates again.
  const after = add(0, { key: 3, value: 1 });
  await settle();
  inFlight[0]?.end();
  await after;
});
