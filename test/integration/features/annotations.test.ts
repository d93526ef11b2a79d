import { expect, test } from '@jest/globals';
import { identifyDevice } from '../../../schema/ids.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { useTestSystem } from '../../support/system/use.ts';

const ADMIN = 'the token that may annotate everything';
const READER = 'the token that reads all annotations';
const DAY_MS = 86_400_000;

const NOW = Date.now();

const system = useTestSystem({
  clock: () => NOW,
  settings: { API_TOKEN: ADMIN, READ_TOKENS: READER, HISTORY_DAYS: '3650' },
});

const ask = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  { body, token = ADMIN }: { body?: unknown; token?: string } = {},
) =>
  send(system.httpUrl, `/api/v1/annotations${path}`, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    body: body === undefined ? undefined : JSON.stringify(body),
  });

const list = async (query: string): Promise<{ items: never[]; next: string | null }> =>
  JSON.parse((await ask('GET', query)).text);

async function store(body: unknown) {
  const { status, text } = await ask('POST', '', { body });
  expect({ status, text }).toMatchObject({ status: 201 });
  return JSON.parse(text);
}

const iso = (ms: number) => new Date(ms).toISOString();

test('Annotations of a device: spread over 400 days: listed newest first, in pages, within the requested range only', async () => {
  const times = [NOW - 60_000, NOW - 3_600_000, NOW - 400 * DAY_MS];
  for (const ts of times) await store({ device: 'boiler', ts, text: `at ${ts}` });
  const { items } = await list('?device=boiler');
  expect(items.map(({ ts }) => ts)).toEqual(times.map(iso));
  expect(items[0]).toMatchObject({ device_id: identifyDevice('boiler')?.id, text: `at ${times[0]}` });
  expect((await list(`?device=boiler&from=-2h&to=${times[0]}`)).items).toHaveLength(1);
  expect((await list('?device=other')).items).toEqual([]);
  expect((await list('?device=boiler&from=now')).items).toEqual([]);

  const paged = await list('?device=boiler&limit=2');
  expect(paged.items).toHaveLength(2);
  const rest = await list(`?device=boiler&limit=2&cursor=${paged.next}`);
  expect(rest.items.map(({ ts }) => ts)).toEqual([iso(times[2] ?? 0)]);
  expect(rest.next).toBeNull();
});

test('Annotation without a device: no time is given: stored with the current time; a second DELETE answers 404', async () => {
  const stored = await store({ text: 'Version 2 deployed' });
  expect(stored).toMatchObject({ device_id: null, ts: iso(NOW) });
  expect((await list('')).items).toEqual([stored]);
  expectProblem(await ask('DELETE', `/${stored.id}?device=boiler`), 404, 'not_found');
  expect((await ask('DELETE', `/${stored.id}`)).status).toBe(204);
  expectProblem(await ask('DELETE', `/${stored.id}`), 404, 'not_found');
  expectProblem(await ask('DELETE', '/made-up'), 404, 'not_found');
  expect((await list('')).items).toEqual([]);
});

test('Annotations API: token has only the scope read: GET answers 200, POST and DELETE answer 403', async () => {
  expect((await ask('GET', '', { token: READER })).status).toBe(200);
  expectProblem(await ask('POST', '', { body: { text: 'a' }, token: READER }), 403, 'forbidden');
  const id = '7d3f1c60-c6d2-11f0-8de9-0242ac120002';
  expectProblem(await ask('DELETE', `/${id}`, { token: READER }), 403, 'forbidden');
});

test.each([
  [{}, 400, 'malformed'],
  [{ text: '' }, 400, 'malformed'],
  [{ text: 'a\nb' }, 400, 'malformed'],
  [{ text: 'x'.repeat(501) }, 400, 'malformed'],
  [{ text: 'a', color: 'red' }, 400, 'malformed'],
  [{ text: 'a', ts: 'yesterday' }, 422, 'bad_timestamp'],
  [{ text: 'a', ts: NOW - 4000 * DAY_MS }, 422, 'too_old'],
  [{ text: 'a', ts: NOW + DAY_MS }, 422, 'in_future'],
])('Annotation: POST of %j: answers %d %s', async (body, status, code) => {
  expectProblem(await ask('POST', '', { body }), status, code);
});
