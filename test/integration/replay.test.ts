import { afterEach, describe, expect, test } from '@jest/globals';
import type { Refusals } from '../../api/store/dead-letters.ts';
import { readDeadLetters } from '../support/dead-letters.ts';
import { expectProblem, send } from '../support/http/index.ts';
import { startTestSystem } from '../support/system/index.ts';
import { useDevice, useStore, useTestSystem } from '../support/system/use.ts';

const DAY = 86_400_000;
const NOW = Date.now();

/** The previous hour. A message writes its samples of this hour as one row for each sensor. */
const LAST_HOUR = (Math.floor(NOW / 3_600_000) - 1) * 3_600_000;

/** How far the clock of the system is ahead, in ms. */
let ahead = 0;

const system = useTestSystem({ settings: { AUTO_REGISTER: 'false' }, clock: () => Date.now() + ahead });
const store = useStore(system);
const device = useDevice(system);
afterEach(() => {
  ahead = 0;
});

const replay = (id: string) => send(system.httpUrl, `/api/v1/dead-letters/${id}/replay`, { method: 'POST' });

/** @param name of a device @returns the ids of its dead letters, newest first */
const deadLetterIds = async (name: string): Promise<string[]> =>
  (await system.all('/dead-letters')).filter((deadLetter) => deadLetter.device === name).map(({ id }) => id);

/** @returns the id of its only dead letter */
async function onlyDeadLetter(name: string): Promise<string> {
  const ids = await deadLetterIds(name);
  expect(ids).toHaveLength(1);
  return String(ids[0]);
}

/** @returns oldest first */
async function stored(name: string, sensor: string = 's'): Promise<Array<[number, number]>> {
  const path = `/devices/${name}/sensors/${sensor}/measurements?order=asc&limit=1000&from=${NOW - 2 * DAY}`;
  const items = await system.all(path);
  return items.map(({ ts, value }) => [Date.parse(ts), value]);
}

/** @returns rows of all devices */
async function countRows(): Promise<number> {
  const { rows } = await system.execute('SELECT count(*) AS n FROM message');
  return Number(rows[0]?.['n']);
}

const answered = ({ status, text }: { status: number; text: string }) => ({ status, ...JSON.parse(text) });

/** Writes a dead letter in the form that ingest writes. */
async function writeDeadLetter({
  device: name,
  payload,
  refused,
  receivedAt = Date.now() - 60_000,
}: {
  device: string;
  payload: string;
  refused: Refusals;
  /** epoch ms */
  receivedAt?: number;
}) {
  await store.deadLetters.write({
    receivedAt,
    device: name,
    topic: `iot/v1/${name}/measurements`,
    codes: { rejected: refused.length },
    content: { contentType: undefined, payload: Buffer.from(payload), refused },
  });
}

test('Dead letter replay: device was unknown until its birth: every sample is stored, and a second replay changes nothing', async () => {
  const samples = Array.from({ length: 10 }, (_, i) => ({ sensor_id: 's', ts: NOW - i * 1000, value: i }));
  // The message is too large to wait in memory for the birth, so only the replay can store it.
  const filler = { sensor_id: 's', ts: NOW, value: 0, note: 'x'.repeat(20_000) };
  await device.measure('late', [...samples, filler]);
  const id = await onlyDeadLetter('late');
  expect(expectProblem(await replay(id), 422, 'refused')).toMatchObject({
    accepted: 0,
    refused: Array.from({ length: 11 }, (_, index) => ({ index, code: 'unknown_device' })),
  });

  await device.birth('late', { sensors: [{ sensor_id: 's' }] });
  // The filler equals the first sample, so ten are stored.
  expect(answered(await replay(id))).toEqual({ status: 200, accepted: 10 });
  const values = samples.map(({ ts, value }) => [ts, value]).reverse();
  expect(await stored('late')).toEqual(values);
  expect((await system.get('/devices/late/sensors/s')).value).toBe(0);

  const rows = await countRows();
  expect(answered(await replay(id))).toEqual({ status: 200, accepted: 10 });
  expect(await stored('late')).toEqual(values);
  expect(await countRows()).toBe(rows);
  // The replay creates no second dead letter.
  expect(await deadLetterIds('late')).toEqual([id]);
});

test('Dead letter replay: message was valid in part: only its refused measurements are stored', async () => {
  await device.birth('partly', { sensors: [{ sensor_id: 's' }] });
  const samples = Array.from({ length: 400 }, (_, i) => ({
    sensor_id: i % 2 ? 's' : 'new',
    ts: LAST_HOUR + i * 1000,
    value: i,
  }));
  const rows = await countRows();
  await device.measure('partly', samples);
  const rowsOfMessage = (await countRows()) - rows;
  // The dead letter counts 200 refusals, which is twice as many as it lists.
  expect((await readDeadLetters(system, 'partly'))[0]).toMatchObject({ codes: { unknown_sensor: 200 } });

  await device.birth('partly', { sensors: [{ sensor_id: 's' }, { sensor_id: 'new' }] });
  expect(answered(await replay(await onlyDeadLetter('partly')))).toEqual({ status: 200, accepted: 200 });
  expect((await stored('partly', 'new')).map(([, value]) => value)).toEqual(
    Array.from({ length: 200 }, (_, i) => 2 * i),
  );
  // The replay wrote as many rows as the other half of the message, and none of those again.
  expect(await countRows()).toBe(rows + 2 * rowsOfMessage);
});

test('Dead letter replay: a measurement is refused again: the answer has its index in the original message', async () => {
  await device.birth('partial', { sensors: [{ sensor_id: 's' }] });
  await device.measure('partial', [
    { sensor_id: 's', ts: NOW, value: 1 },
    { sensor_id: 'new', ts: NOW, value: 2 },
    // @ts-expect-error the value is no number
    { sensor_id: 'new', ts: NOW, value: 'three' },
    { sensor_id: 'other', ts: NOW, value: 4 },
  ]);
  await device.birth('partial', { sensors: [{ sensor_id: 's' }, { sensor_id: 'new' }] });
  const { accepted, refused } = expectProblem(await replay(await onlyDeadLetter('partial')), 422, 'refused');
  expect(accepted).toBe(1);
  expect(refused).toMatchObject([
    { index: 2, code: 'not_numeric' },
    { index: 3, code: 'unknown_sensor' },
  ]);
  expect(await stored('partial', 'new')).toEqual([[NOW, 2]]);
});

test('Dead letter replay: SenML with relative times: the times count from the original receipt', async () => {
  await device.birth('relative', { sensors: [{ sensor_id: 's' }] });
  const receivedAt = NOW - 3_600_000;
  const payload = '[{"bn":"s","t":-2,"v":1},{"t":-1,"v":2},{"v":3}]';
  await writeDeadLetter({
    device: 'relative',
    payload,
    refused: [{ index: -1, code: 'rejected' }],
    receivedAt,
  });
  const id = await onlyDeadLetter('relative');
  for (let times = 0; times < 2; times++) {
    expect(answered(await replay(id))).toEqual({ status: 200, accepted: 3 });
    expect(await stored('relative')).toEqual([
      [receivedAt - 2000, 1],
      [receivedAt - 1000, 2],
      [receivedAt, 3],
    ]);
  }
});

describe('Replay: the age counts from the replay', () => {
  test('Dead letter replay: sample had a time in the future: stored once this time has come', async () => {
    await device.birth('early', { sensors: [{ sensor_id: 's' }] });
    await device.measure('early', [{ sensor_id: 's', ts: NOW + 600_000, value: 1 }]);
    const id = await onlyDeadLetter('early');
    expect(expectProblem(await replay(id), 422, 'refused').refused).toMatchObject([
      { index: 0, code: 'in_future' },
    ]);
    ahead = 600_000;
    expect(answered(await replay(id))).toEqual({ status: 200, accepted: 1 });
    expect(await stored('early')).toEqual([[NOW + 600_000, 1]]);
  });

  test('Dead letter replay: sample is older than the history by now: refused as too_old', async () => {
    await device.birth('aged', { sensors: [{ sensor_id: 's' }] });
    const ts = NOW - 365 * DAY + 3_600_000;
    const payload = JSON.stringify({ sensor_id: 's', ts, value: 1 });
    await writeDeadLetter({ device: 'aged', payload, refused: [{ index: 0, code: 'unknown_sensor' }] });
    const id = await onlyDeadLetter('aged');
    ahead = 2 * 3_600_000;
    expect(expectProblem(await replay(id), 422, 'refused').refused).toMatchObject([
      { index: 0, code: 'too_old' },
    ]);
    ahead = 0;
    expect(answered(await replay(id))).toEqual({ status: 200, accepted: 1 });
  });
});

test('Dead letter replay: sample was refused as too_old, and HISTORY_DAYS is longer now: the sample is stored', async () => {
  await device.birth('archive', { sensors: [{ sensor_id: 's' }] });
  const ts = NOW - 380 * DAY;
  await device.measure('archive', [{ sensor_id: 's', ts, value: 7 }]);
  const id = await onlyDeadLetter('archive');
  expectProblem(await replay(id), 422, 'refused');
  const longer = await startTestSystem({
    settings: { CQL_KEYSPACE: system.config.cql.keyspace, HISTORY_DAYS: '400', AUTO_REGISTER: 'false' },
  });
  try {
    const answer = await send(longer.httpUrl, `/api/v1/dead-letters/${id}/replay`, { method: 'POST' });
    expect(answered(answer)).toEqual({ status: 200, accepted: 1 });
    const path = `/devices/archive/sensors/s/measurements?from=${ts - 1}&to=${ts + 1}`;
    expect((await longer.get(path)).items).toEqual([{ ts: new Date(ts).toISOString(), value: 7 }]);
  } finally {
    await longer.halt();
  }
});

test('Dead letter replay: message was a birth or a status: the device is registered, then online', async () => {
  await device.publish('iot/v1/asleep/status', JSON.stringify({ state: 'online', session: NOW }));
  const id = await onlyDeadLetter('asleep');
  expectProblem(await replay(id), 422, 'unknown_device');
  const birth = { session: NOW, site: 'barn', sensors: [{ sensor_id: 's', type: 'Temperature' }] };
  await store.deadLetters.write({
    receivedAt: Date.now(),
    device: 'asleep',
    topic: 'iot/v1/asleep/birth',
    codes: { rejected: 1 },
    content: {
      contentType: undefined,
      payload: Buffer.from(JSON.stringify(birth)),
      refused: [{ index: -1, code: 'rejected' }],
    },
  });
  for (const deadLetter of await deadLetterIds('asleep'))
    expect(answered(await replay(deadLetter)).status).toBe(200);
  expect(await system.get('/devices/asleep')).toMatchObject({
    site: 'barn',
    online: true,
    last_seen: null,
    sensors: [expect.objectContaining({ type: 'Temperature' })],
  });
});

test('Dead letter replay: payload was kept in part or not at all: answers 409, and nothing is stored', async () => {
  await device.birth('long', { sensors: [{ sensor_id: 's' }] });
  const payload = `${JSON.stringify({ sensor_id: 'new', ts: NOW, value: 1 })}${' '.repeat(70_000)}`;
  await device.publish('iot/v1/long/measurements', payload);
  await device.birth('long', { sensors: [{ sensor_id: 'new' }] });
  const { detail } = expectProblem(await replay(await onlyDeadLetter('long')), 409, 'not_replayable');
  expect(detail).toContain(`Only the first 65536 bytes of its ${payload.length} were kept.`);
  expect(await stored('long', 'new')).toEqual([]);

  const counting = { receivedAt: Date.now(), topic: 'iot/v1/counted/measurements', codes: { malformed: 9 } };
  await store.deadLetters.write({ ...counting, device: 'counted', content: null });
  expect(
    expectProblem(await replay(await onlyDeadLetter('counted')), 409, 'not_replayable').detail,
  ).toContain('no payload was kept');
});

test.each([
  ['unknown id', '3f2a1c00-c6a1-11f0-8000-0123456789ab'],
  ['id of another kind', '6f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44'],
  ['not an id', 'abc'],
])('Dead letter replay: no dead letter has the id (%s): answers 404', async (_, id) => {
  expectProblem(await replay(id), 404, 'not_found');
});

test('Dead letter replay: GET instead of POST answers 405, a query parameter answers 400', async () => {
  const answer = await send(system.httpUrl, '/api/v1/dead-letters/abc/replay');
  expectProblem(answer, 405, 'method_not_allowed');
  expect(answer.headers['allow']).toBe('POST');
  const extra = await send(system.httpUrl, '/api/v1/dead-letters/abc/replay?force=1', { method: 'POST' });
  expectProblem(extra, 400, 'bad_parameter');
});
