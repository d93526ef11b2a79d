import { afterEach, expect, test } from '@jest/globals';
import { readDeadLetters } from '../support/dead-letters.ts';
import { expectProblem, send } from '../support/http/index.ts';
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

const deadLetterIds = async (name: string): Promise<string[]> =>
  (await system.all('/dead-letters')).filter((deadLetter) => deadLetter.device === name).map(({ id }) => id);

async function onlyDeadLetter(name: string): Promise<string> {
  const ids = await deadLetterIds(name);
  expect(ids).toHaveLength(1);
  return String(ids[0]);
}

async function stored(name: string, sensor: string = 's'): Promise<Array<[number, number]>> {
  const path = `/devices/${name}/sensors/${sensor}/measurements?order=asc&limit=1000&from=${NOW - 2 * DAY}`;
  const items = await system.all(path);
  return items.map(({ ts, value }) => [Date.parse(ts), value]);
}

async function countRows(): Promise<number> {
  const { rows } = await system.execute('SELECT count(*) AS n FROM message');
  return Number(rows[0]?.['n']);
}

const answered = ({ status, text }: { status: number; text: string }) => ({ status, ...JSON.parse(text) });

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
