import { expect, test } from '@jest/globals';
import { readNdjson } from '../../../../api/features/import/text.ts';
import { readValue } from '../../../../api/features/import/values.ts';

test('Import: a text in NDJSON or Parquet: no number; in CSV: a decimal number only', async () => {
  expect(['21.5', '+5', '1e3', '0012'].map((text) => readValue(text))).toEqual([21.5, 5, 1000, 12]);
  expect(['0x10', '1_000', '12,5', '1e2e3', ''].map((text) => readValue(text))).toEqual(Array(5).fill(null));
  async function* source() {
    yield Buffer.from('{"ts":1,"serial":"0012345678"}\n');
  }
  for await (const { isText } of readNdjson(source(), { device: 'd' })) expect(isText).toBe(false);
});
