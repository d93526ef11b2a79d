import { expect, test } from '@jest/globals';
import { ByteBudget } from '../../../../../api/ingest/admission/byte-budget.ts';
import { ReadScheduler } from '../../../../../api/mqtt/embedded/reading/read-scheduler.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));
const OVERHEAD = 2048;
const MAX_TURN_PACKETS = 512;

/** Creates connections that always have more slices to read. */
function createCrowd() {
  const budget = new ByteBudget(OVERHEAD);
  const scheduler = new ReadScheduler(budget);
  const reads: string[] = [];
  function connect(
    name: string,
    { slices, packets, needsRoom = true }: { slices: number; packets: number; needsRoom?: boolean },
  ) {
    let left = slices;
    const read = () => {
      if (left === 0) return;
      if (!scheduler.mayRead(needsRoom)) return void scheduler.wait(read, needsRoom);
      left--;
      reads.push(name);
      scheduler.spend(packets);
      // aedes reads again after it has handled the slice.
      setImmediate(read);
    };
    read();
  }
  return { budget, scheduler, reads, connect };
}

async function turnsUntil(condition: () => boolean) {
  let turns = 0;
  while (!condition()) {
    await turn();
    if (++turns > 10_000) throw new Error('it does not end');
  }
  return turns;
}

test('Read scheduler: one of two connections floods: the other connection is read once in each round', async () => {
  const { reads, connect } = createCrowd();
  connect('flood', { slices: 400, packets: MAX_TURN_PACKETS });
  connect('other', { slices: 10, packets: 1 });
  await turnsUntil(() => reads.length === 410);
  const others = reads.flatMap((name, index) => (name === 'other' ? [index] : []));
  // At most two slices of the flood between two of the other.
  for (const [index, position] of others.entries())
    expect(position - (others[index - 1] ?? 0)).toBeLessThanOrEqual(3);
});

test('Read scheduler: many packets wait: one turn of the event loop reads at most 512 packets', async () => {
  const { scheduler } = createCrowd();
  let resumed = 0;
  for (let index = 0; index < 100; index++)
    scheduler.wait(() => {
      resumed++;
      scheduler.spend(32);
    }, true);
  let before = 0;
  while (resumed < 100) {
    await turn();
    expect((resumed - before) * 32).toBeLessThanOrEqual(MAX_TURN_PACKETS);
    before = resumed;
  }
  expect(scheduler.waiting).toBe(0);
});

test('Read scheduler: the memory budget is full: new connections are read, connections with messages wait until bytes are free', async () => {
  const { budget, scheduler, reads, connect } = createCrowd();
  void budget.enter(0);
  const waiting = budget.enter(0) as Promise<void>;
  connect('message', { slices: 1, packets: 1 });
  connect('newcomer', { slices: 1, packets: 1, needsRoom: false });
  expect(scheduler.mayRead(true)).toBe(false);
  for (let turns = 0; turns < 5; turns++) await turn();
  expect({ reads: [...reads], waiting: scheduler.waiting }).toEqual({ reads: ['newcomer'], waiting: 1 });
  budget.leave(0);
  await waiting;
  await turnsUntil(() => reads.length === 2);
});

test('Read scheduler: the memory budget has free bytes again: waiting connections are read before a new read', async () => {
  const { budget, scheduler } = createCrowd();
  void budget.enter(0);
  const waiting = budget.enter(0) as Promise<void>;
  let resumed = false;
  scheduler.wait(() => {
    resumed = true;
  }, true);
  budget.leave(0);
  await waiting;
  expect({ resumed, mayOvertake: scheduler.mayRead(true) }).toEqual({ resumed: false, mayOvertake: false });
  await turn();
  expect({ resumed, mayRead: scheduler.mayRead(true) }).toEqual({ resumed: true, mayRead: true });
});
