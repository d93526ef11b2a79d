import { expect, test } from '@jest/globals';
import { useCleanUps } from '../../support/clean-ups.ts';
import { HeldWrites } from '../../support/database/held-writes.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const HOUR = 3_600_000;
/** The middle of an hour: all samples of a test lie in this hour, and none is late. */
const NOW = Math.floor(Date.now() / HOUR) * HOUR + HOUR / 2;

const afterwards = useCleanUps();

/** `offset`: ms after NOW */
type Sample = [offset: number, value: number];

test.each([
  [
    'the newer message first',
    [
      [10, 5],
      [5, 9],
    ],
    [10, 5],
  ],
  [
    'the newer message last',
    [
      [5, 9],
      [10, 5],
    ],
    [10, 5],
  ],
  [
    'same instant, the greater value first',
    [
      [5, 9],
      [5, 7],
    ],
    [5, 9],
  ],
  [
    'same instant, the greater value last',
    [
      [5, 7],
      [5, 9],
    ],
    [5, 9],
  ],
] as Array<[string, Sample[], Sample]>)(
  'Latest values: two messages wait for a commit, %s: one write stores the newest value',
  async (_, samples, [offset, value]) => {
    const writes = new HeldWrites();
    let requests: number = 0;
    const pipeline = await startMemoryPipeline({
      clock: () => NOW,
      writes,
      around: ({ table, kind }, run) => {
        if (table === 'latest' && kind !== 'select') requests++;
        return run();
      },
    });
    afterwards(() => pipeline.stop());
    const send = ([offset, value]: Sample) =>
      pipeline.measure('d', [{ sensor_id: 's', ts: NOW + offset, value }]);
    const held = writes.hold({ write: 'write_latest' });
    const messages = [send([0, 1])];
    await held.reached();
    const before = requests;
    for (const sample of samples) messages.push(send(sample));
    await writes.quiet();
    await held.release();
    await Promise.all(messages);
    expect(await pipeline.latest('d')).toEqual({ s: [NOW + offset, value] });
    // A write includes all messages that wait when it is sent.
    expect(requests - before).toBe(1);
  },
);
