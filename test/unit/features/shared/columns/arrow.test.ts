import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import { RecordBatchReader } from 'apache-arrow';
import { encodeArrow } from '../../../../../api/features/shared/columns/arrow.ts';
import { each, HARD_VALUES, labelsNamed, samplesOf } from '../../../../support/features/labeled-samples.ts';

const BEGIN = Date.UTC(2026, 10, 21);

test('Arrow export: sensors with different labels: the decoded rows equal the samples bit by bit', async () => {
  const samples = ['a', 'b', 'c'].map((sensor, index) =>
    samplesOf(
      labelsNamed({ sensor, unit: index === 1 ? null : 'Cel' }),
      Array.from({ length: 40_000 }, (_, row) => [
        BEGIN - row * 86_399_999,
        HARD_VALUES[row % HARD_VALUES.length] ?? 0,
      ]),
    ),
  );
  const bytes = await buffer(encodeArrow(each(samples)));
  const expected = samples.flatMap(({ labels, times, values }) =>
    Array.from(times, (ts, row) => ({ ts, ...labels, value: values[row] })),
  );
  const sizes = [];
  let row = 0;
  let different = 0;
  for (const batch of RecordBatchReader.from(bytes)) {
    sizes.push(batch.numRows);
    for (const found of batch) {
      const wanted = expected[row++];
      const { ts, device, sensor, type, unit, value } = found.toJSON();
      const isSame =
        Object.is(value, wanted?.value) &&
        JSON.stringify([ts, device, sensor, type, unit]) ===
          JSON.stringify([wanted?.ts, wanted?.device, wanted?.sensor, wanted?.type, wanted?.unit]);
      if (!isSame) different++;
    }
  }
  expect(sizes).toEqual([65_536, 54_464]);
  expect([row, different]).toEqual([120_000, 0]);
});
