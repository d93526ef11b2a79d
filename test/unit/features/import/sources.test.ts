import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readCsv } from '../../../../api/features/import/text.ts';

test('CSV import: two columns: different sensors, or the file is refused', async () => {
  const column = fc.string({ unit: fc.constantFrom('a', 'b', ' ', '.'), minLength: 1, maxLength: 3 });
  const property = fc.asyncProperty(column, column, async (one, other) => {
    async function* source() {
      yield Buffer.from(`ts,${one},${other}\n1,1,2\n`);
    }
    const names = [];
    try {
      for await (const { sensor } of readCsv(source(), { device: 'd' })) names.push(...Array.from(sensor));
    } catch (error) {
      expect(error).toMatchObject({ code: 'bad_file' });
    }
    expect(new Set(names).size).toBe(names.length);
  });
  await fc.assert(property);
});
