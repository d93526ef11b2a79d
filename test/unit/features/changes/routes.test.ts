import { expect, test } from '@jest/globals';
import { getChanges } from '../../../../api/features/changes/routes.ts';
import { createCursors } from '../../../../api/http/cursor.ts';
import { DAY_MS } from '../../../../schema/rules.ts';

const NOW = Date.UTC(2026, 10, 22, 0, 30);
const clock = () => NOW;
const cursors = createCursors({ secret: 'a secret', clock });

/** @param batchDays `BATCH_DAYS` @returns problem code or `ok` */
async function answerTo(since: string, batchDays: number): Promise<string> {
  const changeReaders = { acquire: () => () => {} };
  const context = { config: { retention: { batchDays } }, clock };
  const deps = { store: { groups: 1, everywhere: {} }, context, http: { cursors }, changeReaders };
  const handle = getChanges(deps as never) as (request: object, response: object) => Promise<void>;
  // A HEAD request reads no changes.
  const request = { method: 'HEAD', url: '/changes', query: { since } };
  return handle(request, { set: () => {}, end: () => {} }).then(
    () => 'ok',
    ({ code }: { code: string }) => code,
  );
}

test.each([
  [30, 13 * DAY_MS, 'ok', 'ok'],
  [30, 13 * DAY_MS + 1, 'bad_parameter', 'ok'],
  [30, 13.5 * DAY_MS + 1, 'bad_parameter', 'bad_cursor'],
  [4, 3 * DAY_MS, 'ok', 'ok'],
  [4, 3.5 * DAY_MS + 1, 'bad_parameter', 'bad_cursor'],
])('GET /changes: BATCH_DAYS %i, since %i ms ago: time %s, cursor %s', async (days, ms, ofTime, ofCursor) => {
  const at = NOW - ms;
  expect(await answerTo(new Date(at).toISOString(), days)).toBe(ofTime);
  const cursor = cursors.seal('changes', { step: 'hour', at, from: at }, 30 * DAY_MS);
  expect(await answerTo(cursor, days)).toBe(ofCursor);
});
