import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { selectPage } from '../../../../../api/features/assets/routes/shared.ts';

test('Page of a list in no order: read page by page: each item once, in the order of its key', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.string({ maxLength: 3 })),
      fc.integer({ min: 1, max: 7 }),
      async (keys, limit) => {
        const read: string[] = [];
        let after: string | null = null;
        do {
          const page: Awaited<ReturnType<typeof selectPage<string>>> = await selectPage(keys, {
            keyOf: (key) => key,
            after,
            limit,
          });
          expect(page.items.length).toBe(Math.min(limit, keys.length - read.length));
          read.push(...page.items);
          after = page.next;
        } while (after !== null);
        expect(read).toEqual([...keys].sort());
      },
    ),
  );
});
