import { expect, test } from '@jest/globals';
import { getAlarms } from '../../../../../api/features/alarms/routes/alarms.ts';
import type { Alarm } from '../../../../../api/features/alarms/store/episodes.ts';
import { createCursors } from '../../../../../api/http/cursor.ts';
import { uuidBytes } from '../../../../../schema/ids.ts';
import { DAY_MS } from '../../../../../schema/rules.ts';

const NOW = Date.UTC(2026, 10, 22, 0, 30);
const HISTORY_DAYS = 30;
const ID = '0f8fad5b-d9cb-469f-a165-70867728950e';
const bytes = uuidBytes(ID);

/** An alarm that is open for longer than `HISTORY_DAYS`. */
const LONG_OPEN = {
  device: bytes,
  sensor: bytes,
  rule: bytes,
  start: NOW - (HISTORY_DAYS + 1) * DAY_MS,
  cleared: null,
  withdrawn: false,
} as Alarm;

const all = async () => [LONG_OPEN];
const EPISODES = { open: all, ofSensor: all, find: async () => LONG_OPEN };

/** @returns starts of alarms, in epoch ms */
async function answerTo(
  query: string,
  episodes: object = EPISODES,
): Promise<{ items: number[]; next: string | null }> {
  const clock = () => NOW;
  const deps = {
    store: { groups: 1 },
    tables: { episodes },
    alarms: { toItem: ({ start }: Alarm) => start },
    http: { cursors: createCursors({ secret: 'a secret', clock }) },
    context: { clock, config: { retention: { historyDays: HISTORY_DAYS }, ingest: { maxClockSkewMs: 0 } } },
  };
  const handle = getAlarms(deps as never) as (request: object, response: object) => Promise<void>;
  return new Promise((resolve, reject) => {
    const request = { url: `/alarms?${query}`, query: Object.fromEntries(new URLSearchParams(query)) };
    handle(request, { json: resolve }).catch(reject);
  });
}

test.each([
  ['state=open', [LONG_OPEN.start]],
  ['state=open&from=-1', [LONG_OPEN.start]],
  [`device=${ID}&sensor=${ID}`, [LONG_OPEN.start]],
  ['state=open&from=-1d', []],
])('GET /alarms?%s: alarm open for longer than HISTORY_DAYS: start times %j', async (query, items) => {
  expect(await answerTo(query)).toEqual({ items, next: null });
});

test('GET /alarms: alarms of one sensor: the database query has a limit of 1,001 rows, one more than a page', async () => {
  let page: unknown;
  const ofSensor = async (...args: unknown[]) => {
    page = args[2];
    return [LONG_OPEN];
  };
  await answerTo(`device=${ID}&sensor=${ID}`, { ...EPISODES, ofSensor });
  expect(page).toMatchObject({ limit: 1001 });
});
