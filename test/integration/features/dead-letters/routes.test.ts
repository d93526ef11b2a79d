import { beforeAll, expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { createDeadLetterReads } from '../../../../api/features/dead-letters/store.ts';
import { pagesOf } from '../../../support/http/pages.ts';
import { useStore, useTestSystem } from '../../../support/system/use.ts';

const HOUR = 3_600_000;
/** A full hour of the recent past. A partition has the dead letters of one hour. */
const NOON = Math.floor(Date.now() / HOUR) * HOUR - 40 * HOUR;

/** Times of receipt: around the edge of an hour, many at one instant, and one after a gap of hours. */
const TIMES = [
  ...Array(40).fill(NOON),
  NOON - 1,
  NOON + 1,
  ...Array(25).fill(NOON + 5),
  ...Array.from({ length: 50 }, (_, i) => NOON + i * 60_000),
  NOON + HOUR - 1,
  NOON + HOUR,
  NOON + HOUR,
  NOON + HOUR + 1,
  NOON + 9 * HOUR,
];
const SORTED =
  'CREATE TABLE IF NOT EXISTS sorted (one int, id timeuuid, codes frozen<map<text, int>>, PRIMARY KEY (one, id)) WITH CLUSTERING ORDER BY (id DESC)';

const RANGE = { from: NOON - HOUR, to: NOON + 12 * HOUR };
const rangeQuery = ({ from, to } = RANGE) => `from=${from}&to=${to}`;

/** newest first, as the database orders them */
let all: Array<{ id: string; ts: string; codes: Record<string, number> }>;

const system = useTestSystem();
const store = useStore(system);
beforeAll(async () => {
  for (const [index, receivedAt] of TIMES.entries()) {
    await store.deadLetters.write({
      receivedAt,
      device: `d${index % 3}`,
      topic: `iot/v1/d${index % 3}/measurements`,
      codes: index % 2 ? { malformed: 1 } : { too_old: index + 1, not_numeric: 2 },
      content: {
        contentType: undefined,
        payload: Buffer.from(`{${index}`),
        refused: [{ index: -1, code: 'malformed' }],
      },
    });
  }
  all = await readAll();
});

/** All dead letters in the order of `timeuuid` of the database, which sorts them in a table with one partition. */
async function readAll() {
  await system.execute(SORTED, [], { prepare: false });
  const { rows } = await system.execute('SELECT id, codes FROM dead_letter', [], { fetchSize: 5000 });
  for (const { id, codes } of rows) {
    await system.execute('INSERT INTO sorted (one, id, codes) VALUES (1, ?, ?)', [id, codes]);
  }
  const sorted = await system.execute('SELECT id, codes FROM sorted WHERE one = 1', [], { fetchSize: 5000 });
  return sorted.rows.map(({ id, codes }) => ({ id: String(id), ts: id.getDate().toISOString(), codes }));
}

const idsOf = (items: Record<string, unknown>[]) => items.map(({ id }) => id);

test.each([1, 7, 39, 40, 41, 100, 1000])(
  'Pages of dead letters: limit %i: each dead letter is listed once, newest first',
  async (limit) => {
    const pages = await pagesOf(system, `/dead-letters?${rangeQuery()}&limit=${limit}`);
    expect(idsOf(pages.flat())).toEqual(idsOf(all));
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
    expect(pages[0]).toHaveLength(Math.min(limit, all.length));
  },
);

test('Pages of dead letters: range over several hours: includes its start (from) and excludes its end (to), to the millisecond', async () => {
  for (const [from, to] of [
    [NOON, NOON + 1],
    [NOON - 1, NOON],
    [NOON + 1, NOON + 5],
    [NOON + 5, NOON + 6],
    [NOON - 1, NOON + HOUR],
    [NOON + HOUR, NOON + HOUR + 1],
    [NOON + 2 * HOUR, NOON + 9 * HOUR],
    [NOON, NOON],
  ]) {
    const [begin, end] = [Number(from), Number(to)];
    const wanted = all.filter(({ ts }) => Date.parse(ts) >= begin && Date.parse(ts) < end);
    const pages = await pagesOf(system, `/dead-letters?${rangeQuery({ from: begin, to: end })}&limit=6`);
    expect(idsOf(pages.flat())).toEqual(idsOf(wanted));
  }
});

test('Pages of dead letters: new dead letters arrive between two pages: not listed, and no older one is missing', async () => {
  const [wanted, range] = [idsOf(all), rangeQuery({ from: RANGE.from, to: NOON + 10 * HOUR })];
  const pages = await pagesOf(system, `/dead-letters?${range}&limit=30`, async (page) => {
    await writeBare(NOON + 9 * HOUR + page);
  });
  expect(idsOf(pages.flat())).toEqual(wanted);
  all = await readAll();
});

test('Pages of dead letters: large payloads: a page has at most 8 MB', async () => {
  const start = NOON - 10 * HOUR;
  const large = Buffer.alloc(100_000, 0x20);
  for (let i = 0; i < 200; i++) await writeBare(start + i, large);
  const pages = await pagesOf(
    system,
    `/dead-letters?${rangeQuery({ from: start, to: start + HOUR })}&limit=1000`,
  );
  expect(pages.flat()).toHaveLength(200);
  expect(pages.length).toBeGreaterThan(1);
  expect(pages[0]?.[0]).toMatchObject({ size: 100_000 });
  expect(Buffer.from(pages[0]?.[0].payload_base64, 'base64')).toEqual(large.subarray(0, 65_536));
});

const writeBare = (receivedAt: number, payload?: Buffer) =>
  store.deadLetters.write({
    receivedAt,
    device: undefined,
    topic: 'iot/v1/x/measurements',
    codes: { malformed: 1 },
    content: payload
      ? { contentType: undefined, payload, refused: [{ index: -1, code: 'malformed' }] }
      : null,
  });

test.each([
  ['device=d1', 7],
  ['code=too_old', 30],
  ['device=d2&code=malformed', 4],
  ['device=nobody', 10],
])(
  'Dead letters: filter %s: only matching dead letters are listed, newest first, in pages of %i',
  async (query, limit) => {
    const wanted = new URLSearchParams(query);
    const { rows } = await system.execute('SELECT id, device FROM dead_letter', [], { fetchSize: 5000 });
    const deviceOf = new Map(rows.map(({ id, device }) => [String(id), device]));
    const expected = all.filter(
      ({ id, codes }) =>
        (!wanted.has('device') || deviceOf.get(id) === wanted.get('device')) &&
        (!wanted.has('code') || Object.hasOwn(codes, String(wanted.get('code')))),
    );
    const range = rangeQuery({ from: RANGE.from, to: NOON + 9 * HOUR + 1 });
    const pages = await pagesOf(system, `/dead-letters?${range}&limit=${limit}&${query}`);
    const inRange = expected.filter(({ ts }) => Date.parse(ts) < NOON + 9 * HOUR + 1);
    expect(idsOf(pages.flat())).toEqual(idsOf(inRange));
    for (const page of pages) expect(page.length).toBeLessThanOrEqual(limit);
  },
);

test('Dead letters: no range is given: dead letters of the last day are listed, with refusals and payload', async () => {
  const client = await mqtt.connectAsync(system.mqttUrl);
  const payload = '[{"sensor_id":"t","value":"x"},{"sensor_id":"t","value":1},{"value":2}]';
  const before = Date.now();
  await client.publishAsync('iot/v1/Öfen & Co/measurements', payload, { qos: 1 });
  await client.endAsync();
  const { items, next } = await system.get('/dead-letters');
  expect(next).toBe(null);
  const expected = {
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-1/),
    ts: expect.stringMatching(/Z$/),
    device: 'Öfen & Co',
    topic: 'iot/v1/Öfen & Co/measurements',
    codes: { not_numeric: 1, bad_id: 1 },
    refused: [
      { index: 0, code: 'not_numeric', path: '[0].value', rule: 'must be a number' },
      {
        index: 2,
        code: 'bad_id',
        path: '[2].sensor_id',
        rule: expect.stringMatching(/^is missing; .* looks like/),
      },
    ],
    content_type: null,
    size: Buffer.byteLength(payload),
    payload_base64: Buffer.from(payload).toString('base64'),
  };
  expect(items).toEqual([expected]);
  expect(await system.get(`/dead-letters/${items[0].id}`)).toEqual({
    ...items[0],
    decoded: {
      format: 'JSON',
      text: payload,
      elements: [
        expect.objectContaining({ marks: [expect.anything()] }),
        ...Array(2).fill(expect.anything()),
      ],
      problem: null,
    },
  });
  expect(Date.parse(items[0].ts)).toBeGreaterThanOrEqual(before);
});

test('Dead letter: stored without payload: the answer has its error counts, and null for payload, size and refusals', async () => {
  await writeBare(NOON - 30 * HOUR);
  const range = rangeQuery({ from: NOON - 30 * HOUR, to: NOON - 29 * HOUR });
  const [{ id }] = (await system.get(`/dead-letters?${range}`)).items;
  expect(await system.get(`/dead-letters/${id}`)).toEqual({
    id,
    ts: new Date(NOON - 30 * HOUR).toISOString(),
    device: null,
    topic: 'iot/v1/x/measurements',
    codes: { malformed: 1 },
    refused: null,
    content_type: null,
    size: null,
    payload_base64: null,
    decoded: null,
  });
});

function bruteForce({ from, to }: { from: number; to: number }) {
  const hours: Map<string, { hour: string; dead_letters: number; codes: Record<string, number> }> = new Map();
  for (const { ts, codes } of all) {
    if (Date.parse(ts) < from || Date.parse(ts) >= to) continue;
    const hour = new Date(Math.floor(Date.parse(ts) / HOUR) * HOUR).toISOString();
    const count = hours.get(hour) ?? { hour, dead_letters: 0, codes: {} };
    hours.set(hour, count);
    count.dead_letters++;
    for (const [code, n] of Object.entries(codes)) count.codes[code] = (count.codes[code] ?? 0) + n;
  }
  return [...hours.values()];
}

test.each([
  ['all hours', RANGE],
  ['a part of an hour', { from: NOON + 1, to: NOON + 30 * 60_000 }],
  ['parts of two hours', { from: NOON + 30 * 60_000, to: NOON + HOUR + 1 }],
  ['hours without dead letters', { from: NOON + 2 * HOUR, to: NOON + 9 * HOUR }],
])(
  'Summary of dead letters: %s: hours and counts equal those of a plain loop over all dead letters',
  async (_, range) => {
    expect(await system.get(`/dead-letters/summary?${rangeQuery(range)}`)).toEqual({
      items: bruteForce(range),
      from: new Date(range.from).toISOString(),
      to: new Date(range.to).toISOString(),
    });
  },
);

test('Summary of dead letters: too many for one answer: ends at a full hour, and the answer has this hour as from', async () => {
  const range = { from: RANGE.from, to: NOON + 9 * HOUR };
  const { hours, from } = await createDeadLetterReads(store).summary(range, { maxDeadLetters: 2 });
  expect(from).toBe(NOON + HOUR);
  const rest = await createDeadLetterReads(store).summary({ from: range.from, to: from });
  const counts = [...hours, ...rest.hours].map(({ hour, deadLetters, codes }) => ({
    hour: new Date(hour).toISOString(),
    dead_letters: deadLetters,
    codes,
  }));
  expect(counts).toEqual(bruteForce(range));
});
