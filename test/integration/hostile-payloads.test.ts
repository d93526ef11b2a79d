import { createHash } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { readDeadLetters } from '../support/dead-letters.ts';
import { readMetric } from '../support/metrics.ts';
import { useDevice, useTestSystem } from '../support/system/use.ts';

const DAY_MS = 86_400_000;

/** Limits reads to the last hours, because a year of empty hours takes long to read. */
const RECENT = `from=${Date.now() - DAY_MS}`;

const system = useTestSystem();
const client = useDevice(system);

let devices = 0;
const newDevice = () => `hostile-${devices++}`;

/** @returns settles when the message is acknowledged */
const publish = (device: string, payload: string | Buffer): Promise<unknown> =>
  client.publish(`iot/v1/${device}/measurements`, payload);

/** Messages that are refused as a whole, with the error code. */
const WHOLE = [
  ['an empty payload', '', 'malformed'],
  ['white space', ' \n', 'malformed'],
  ['JSON that is cut off', '[{"sensor_id":"t","ts":1', 'malformed'],
  ['two documents', '{"sensor_id":"t","value":1}{}', 'malformed'],
  ['a bare word', 'online', 'malformed'],
  ['null', 'null', 'malformed'],
  ['a number', '42', 'malformed'],
  ['a text', '"21.5"', 'malformed'],
  ['bytes of another format', Buffer.from([0x1f, 0x8b, 0x08, 0x00]), 'unknown_format'],
  ['CBOR that ends too early', Buffer.from([0x81, 0xa2, 0x61, 0x6e]), 'malformed'],
  ['text in UTF-16 that is cut off', Buffer.from([0xff, 0xfe, 0x5b]), 'malformed'],
  ['nesting too deep for a recursive reader', '['.repeat(100_000), 'malformed'],
  ['100,000 elements', `[${'0,'.repeat(99_999)}0]`, 'too_large'],
  ['10,001 samples', JSON.stringify(Array(10_001).fill({ sensor_id: 't', value: 1 })), 'too_large'],
  ['a SenML label that must be understood', '[{"n":"t","v":1,"rule_":2}]', 'malformed'],
  ['a SenML base name that is no text', '[{"bn":7,"n":"t","v":1}]', 'malformed'],
  ['a SenML version to come', '[{"bver":11,"n":"t","v":1}]', 'malformed'],
] as [string, string | Buffer, string][];

test.each(WHOLE)(
  'Invalid MQTT payload: %s: one dead letter holds the message with its error code',
  async (_, payload, code) => {
    const device = newDevice();
    await publish(device, payload);
    expect(await readDeadLetters(system, device)).toEqual([
      {
        topic: `iot/v1/${device}/measurements`,
        device,
        size: payload.length,
        sha256: createHash('sha256').update(payload).digest(),
        payload: Buffer.from(payload).subarray(0, 65_536),
        codes: { [code]: 1 },
        refused: [{ index: -1, code, path: expect.any(String), rule: expect.stringMatching(/\w/) }],
      },
    ]);
  },
);

test.each([
  ['{"sensor_id":"","value":1}', 1],
  ['[{"n":"","v":1},{"n":"","v":2,"t":1}]', 2],
])(
  'Invalid MQTT payload: sensor name is empty in %s: one dead letter counts the refused measurements',
  async (payload, refused) => {
    const device = newDevice();
    await publish(device, payload);
    expect(await readDeadLetters(system, device)).toMatchObject([{ codes: { bad_id: refused } }]);
  },
);

/** Wrong measurements as JSON, with the error code. */
const SINGLE: [string, string, string][] = [
  ['no object', '7', 'malformed'],
  ['null', 'null', 'malformed'],
  ['an array', '[1]', 'bad_id'],
  ['no sensor', '{"value":1}', 'bad_id'],
  ['a sensor that is a number', '{"sensor_id":7,"value":1}', 'bad_id'],
  ['a sensor without a name', '{"sensor_id":"","value":1}', 'bad_id'],
  ['a name of 129 bytes', `{"sensor_id":"${'x'.repeat(127)}é","value":1}`, 'bad_id'],
  ['a name with a control character', '{"sensor_id":"a\\u0007b","value":1}', 'bad_id'],
  ['a name with half a character', '{"sensor_id":"a\\ud800","value":1}', 'bad_id'],
  ['NaN, which JSON does not have', '{"sensor_id":"t","value":NaN}', 'not_finite'],
  ['Infinity, which JSON does not have', '{"sensor_id":"t","value":Infinity}', 'not_finite'],
  ['no value', '{"sensor_id":"t"}', 'not_numeric'],
  ['a value that is a text', '{"sensor_id":"t","value":"21.5"}', 'not_numeric'],
  ['a value that is null', '{"sensor_id":"t","value":null}', 'not_numeric'],
  ['a value that is an object', '{"sensor_id":"t","value":{}}', 'not_numeric'],
  ['a value beyond every double', '{"sensor_id":"t","value":1e999}', 'not_finite'],
  ['a value below every double', '{"sensor_id":"t","value":-1e999}', 'not_finite'],
  ['a time that is null', '{"sensor_id":"t","ts":null,"value":1}', 'bad_timestamp'],
  ['a time that is no time', '{"sensor_id":"t","ts":"yesterday","value":1}', 'bad_timestamp'],
  ['a 30th of February', '{"sensor_id":"t","ts":"2026-02-30T00:00:00Z","value":1}', 'bad_timestamp'],
  ['a time with a fraction', '{"sensor_id":"t","ts":1763683200000.5,"value":1}', 'bad_timestamp'],
  ['a time without end', '{"sensor_id":"t","ts":1e999,"value":1}', 'bad_timestamp'],
  ['a time in seconds', `{"sensor_id":"t","ts":${Math.round(Date.now() / 1000)},"value":1}`, 'too_old'],
  ['a time before retention', `{"sensor_id":"t","ts":${Date.now() - 366 * DAY_MS},"value":1}`, 'too_old'],
  ['a time before all times', '{"sensor_id":"t","ts":-1e300,"value":1}', 'too_old'],
  ['the year 1', '{"sensor_id":"t","ts":"0001-01-01T00:00:00Z","value":1}', 'too_old'],
  ['a time ahead', `{"sensor_id":"t","ts":${Date.now() + 3_600_000},"value":1}`, 'in_future'],
  ['a time in microseconds', `{"sensor_id":"t","ts":${Date.now() * 1000},"value":1}`, 'in_future'],
  ['a time after all times', '{"sensor_id":"t","ts":1e300,"value":1}', 'in_future'],
];

test('MQTT payload: JSON with valid and invalid measurements: valid ones are stored, and one dead letter lists the invalid ones', async () => {
  const device = newDevice();
  const ts = Date.now();
  const good = (index: number) => `{"sensor_id":"t","ts":${ts - index},"value":${index}}`;
  // A valid measurement stands before and after each invalid one, which must not affect its neighbors.
  const payload = `[${SINGLE.flatMap(([, json], i) => [good(i), json]).join()},${good(SINGLE.length)}]`;
  await publish(device, payload);

  const { items } = await system.get(`/devices/${device}/sensors/t/measurements?limit=1000&${RECENT}`);
  expect(items).toEqual(
    Array.from({ length: SINGLE.length + 1 }, (_, index) => ({
      ts: new Date(ts - index).toISOString(),
      value: index,
    })),
  );
  const [deadLetter, ...more] = await readDeadLetters(system, device);
  expect(more).toEqual([]);
  const byIndex = deadLetter?.refused.sort((a, b) => a.index - b.index);
  expect(byIndex).toMatchObject(
    SINGLE.map(([, , code], index) => ({
      index: 2 * index + 1,
      code,
      path: expect.stringContaining(`[${2 * index + 1}]`),
    })),
  );
  expect(deadLetter?.codes).toEqual(countBy(SINGLE.map(([, , code]) => code)));
  expect(deadLetter?.payload.toString()).toBe(payload);
});

/** Wrong SenML records, with the error code. */
const RECORDS: [string, string, string][] = [
  ['no object', '7', 'malformed'],
  ['an array', '[]', 'malformed'],
  ['a name that is a number', '{"n":7,"v":1}', 'bad_id'],
  ['a time that is a text', '{"n":"t","t":"now","v":1}', 'bad_timestamp'],
  ['a time without end', '{"n":"t","t":1e999,"v":1}', 'bad_timestamp'],
  ['a value that is a text', '{"n":"t","v":"1"}', 'not_numeric'],
  ['no value at all', '{"n":"t"}', 'not_numeric'],
  ['a truth that is a number', '{"n":"t","vb":1}', 'not_numeric'],
  ['a value beyond every double', '{"n":"t","v":1e999}', 'not_finite'],
  ['a time long ago', '{"n":"t","t":-1e12,"v":1}', 'too_old'],
  ['a time far ahead, relative', '{"n":"t","t":268435455,"v":1}', 'in_future'],
  ['a time far ahead, absolute', '{"n":"t","t":1e306,"v":1}', 'in_future'],
  ['a name with a line break', '{"n":"a\\nb","v":1}', 'bad_id'],
];

test('MQTT payload: SenML with valid and invalid records: valid ones are stored, and one dead letter lists the invalid ones', async () => {
  const device = newDevice();
  const payload = `[{"n":"t","v":1},${RECORDS.map(([, json]) => json).join()},{"n":"t","t":-1,"v":2}]`;
  await publish(device, payload);
  const { items } = await system.get(`/devices/${device}/sensors/t/measurements?${RECENT}`);
  expect(items.map(({ value }: { value: number }) => value)).toEqual([1, 2]);
  const [deadLetter] = await readDeadLetters(system, device);
  expect(deadLetter?.refused.sort((a, b) => a.index - b.index)).toMatchObject(
    RECORDS.map(([, , code], index) => ({ index: index + 1, code })),
  );
});

test('MQTT payload: 5,000 invalid measurements: one dead letter counts all of them and lists the first hundred', async () => {
  const device = newDevice();
  const before = await readMetric(system, 'iot_ingest_dead_letters_total{code="not_numeric"}');
  await publish(device, JSON.stringify(Array(5000).fill({ sensor_id: 't' })));
  const [deadLetter] = await readDeadLetters(system, device);
  expect(deadLetter?.codes).toEqual({ not_numeric: 5000 });
  expect(deadLetter?.refused).toMatchObject(
    Array.from({ length: 100 }, (_, index) => ({ index, code: 'not_numeric', path: `[${index}].value` })),
  );
  expect(deadLetter?.size).toBeGreaterThan(65_536);
  expect(deadLetter?.payload).toHaveLength(65_536);
  const after = await readMetric(system, 'iot_ingest_dead_letters_total{code="not_numeric"}');
  expect(after - before).toBe(5000);
});

test('MQTT payload: invalid births and statuses: each becomes a dead letter', async () => {
  const device = newDevice();
  for (const payload of ['{', '[]', '7', '{"sensors":{}}', '{"name":""}', '{"site":"a\\tb"}']) {
    await client.publish(`iot/v1/${device}/birth`, payload);
  }
  for (const payload of ['{', '{"state":"asleep"}', 'maybe', 'null', '{"state":{}}']) {
    await client.publish(`iot/v1/${device}/status`, payload);
  }
  const deadLetters = await readDeadLetters(system, device);
  expect(deadLetters.map(({ payload, codes }) => [payload.toString(), Object.keys(codes)[0]]).sort()).toEqual(
    [
      ['{', 'malformed'],
      ['[]', 'malformed'],
      ['7', 'malformed'],
      ['{"sensors":{}}', 'malformed'],
      ['{"name":""}', 'bad_id'],
      ['{"site":"a\\tb"}', 'bad_id'],
      ['{', 'malformed'],
      ['{"state":"asleep"}', 'malformed'],
      ['maybe', 'malformed'],
      ['null', 'malformed'],
      ['{"state":{}}', 'malformed'],
    ].sort(),
  );
});

test('MQTT connection: after all hostile payloads: the connection is open, and /readyz answers 200', async () => {
  expect(client.closed()).toBe(0);
  expect((await fetch(`${system.httpUrl}/readyz`)).status).toBe(200);
});

function countBy(texts: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const text of texts) counts[text] = (counts[text] ?? 0) + 1;
  return counts;
}
