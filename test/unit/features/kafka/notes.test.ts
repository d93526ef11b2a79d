import { expect, test } from '@jest/globals';
import { SentNotes } from '../../../../api/features/kafka/notes.ts';
import { MAX_DIGESTS_PER_NOTE } from '../../../../api/features/kafka/store.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';

const HOUR = Date.UTC(2026, 4, 1, 10);
const device = Buffer.alloc(16, 7);

/** Creates notes whose writes are recorded in memory: digests in the order of writing. */
function createNotes() {
  const written: string[] = [];
  const notes = new SentNotes({
    store: {
      writeNote: async (_device, _bucket, digests) => {
        for (let from = 0; from < digests.length; from += 8)
          written.push(digests.toString('hex', from, from + 8));
      },
    },
    retry: { run: (work: () => Promise<unknown>) => work() } as never,
    clock: () => HOUR + 1000,
  });
  return { notes, written };
}

function digest(number: number) {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(number, 4);
  return bytes;
}

test('Notes of blocks sent to Kafka: a full note is written: the digests of the next note are kept', async () => {
  const { notes, written } = createNotes();
  const count = MAX_DIGESTS_PER_NOTE + 3;
  for (let number = 0; number < count; number++) notes.add(device, HOUR, digest(number));
  await notes.writeDue();
  expect(written).toHaveLength(MAX_DIGESTS_PER_NOTE);
  await notes.writeBefore(HOUR + HOUR_MS);
  expect(written).toEqual(Array.from({ length: count }, (_, number) => digest(number).toString('hex')));
});

test('Notes of blocks sent to Kafka: no note is due: no digest is written until writeAll() is called', async () => {
  const { notes, written } = createNotes();
  notes.add(device, HOUR, digest(1));
  await notes.writeDue();
  await notes.writeBefore(HOUR);
  expect(written).toEqual([]);
  await notes.writeAll();
  expect(written).toEqual([digest(1).toString('hex')]);
});
