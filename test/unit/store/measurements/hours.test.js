import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { encodeHour, planHours } from '../../../../api/store/measurements/hours.js';
import { Partition } from '../../../../api/store/sending/pending-rows.js';
import { mergePieces, packBlock, splitBlocks } from '../../../../schema/packed/block.js';
import { HOUR_MS } from '../../../../schema/rules.js';
import { sortedSeries } from '../../schema/packed/arbitraries.js';

const BUCKET = Date.UTC(2026, 10, 21, 9);
const PARTITION = new Partition(Buffer.alloc(16, 1));

const hourOfSamples = sortedSeries({ min: BUCKET, max: BUCKET + HOUR_MS - 1, minLength: 1 });
/** Some messages have more samples than a block holds. */
const length = fc.oneof({ weight: 5, arbitrary: fc.constant(0) }, fc.integer({ min: 1, max: 4000 }));

test('Rows of an hour: any message: the blocks are those of merging and cutting its pieces', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(hourOfSamples, length), { minLength: 1, maxLength: 8 }), (list) => {
      const message = list.map(([{ times, values }, more], index) => {
        const others = Array.from({ length: more }, (_, at) => BUCKET + at);
        return {
          sensor: Buffer.alloc(16, index),
          times: more > 0 ? others : times,
          values: more > 0 ? others : values,
        };
      });
      const [hour, ...further] = planHours(message, 1);
      expect(further).toEqual([]);
      const rows = hour ? encodeHour(PARTITION, hour) : [];
      const expected = splitBlocks(mergePieces(hour?.pieces ?? [])).map((block) => packBlock(BUCKET, block));
      expect(rows.map(({ params }) => params.at(-1))).toEqual(expected);
    }),
  );
});
