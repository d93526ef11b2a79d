import { expect, test } from '@jest/globals';
import { readDeadLetters } from '../../support/dead-letters.ts';
import { expectProblem, send } from '../../support/http/index.ts';
import { startTestSystem } from '../../support/system/index.ts';
import { useTestSystem } from '../../support/system/use.ts';

const TS = Date.now() - 60_000;

/** SenML as CBOR, RFC 8428, table 6: one record, n "t", v 21.5 as a half-precision float. */
const CBOR = Buffer.from('81a200617402f94d60', 'hex');

const system = useTestSystem({ settings: { MAX_MESSAGE_BYTES: '100000' } });

const post = (
  device: string,
  body: string | Buffer | Iterable<Buffer>,
  headers: Record<string, string> = { 'content-type': 'application/json' },
) =>
  send(system.httpUrl, `/api/v1/measurements?device=${encodeURIComponent(device)}`, {
    method: 'POST',
    body,
    headers,
  });

const resultOf = ({ status, text }: { status: number; text: string }) => ({ status, ...JSON.parse(text) });

const latest = async (device: string, sensor: string): Promise<number> =>
  (await system.get(`/devices/${encodeURIComponent(device)}/sensors/${sensor}`)).value;

test.each([
  ['plain JSON', 'application/json', JSON.stringify({ sensor_id: 't', ts: TS, value: 21.5 }), 1],
  [
    'JSON array, with a charset',
    'Application/JSON; charset=utf-8',
    '[{"sensor_id":"t","value":20},{"sensor_id":"t","value":21.5}]',
    2,
  ],
  ['SenML JSON', 'application/senml+json', '[{"bn":"t","bt":-1,"v":3},{"t":1,"v":21.5}]', 2],
  ['SenML CBOR', 'application/senml+cbor', CBOR, 1],
  ['JSON without a content type', '', '{"sensor_id":"t","value":21.5}', 1],
  ['CBOR without a content type', '', CBOR, 1],
])('HTTP post of measurements: %s: values are accepted and stored', async (name, type, payload, accepted) => {
  const answer = await post(name, payload, type ? { 'content-type': type } : {});
  expect(resultOf(answer)).toEqual({ status: 200, accepted });
  expect(await latest(name, 't')).toBe(21.5);
});

test('HTTP post of measurements: some are invalid: the answer lists these, without a dead letter; valid ones are stored', async () => {
  const answer = await post(
    'partly',
    JSON.stringify([
      { sensor_id: 't', ts: TS, value: 1 },
      { sensor_id: 't', ts: TS, value: 'x' },
      { ts: TS, value: 2 },
      { sensor_id: 't', ts: 5, value: 3 },
      { sensor_id: 't', ts: TS + 1, value: 4 },
    ]),
  );
  expect(expectProblem(answer, 422, 'refused')).toMatchObject({
    accepted: 2,
    refused: [
      { index: 1, code: 'not_numeric', path: '[1].value', rule: 'must be a number' },
      { index: 2, code: 'bad_id', path: '[2].sensor_id' },
      { index: 3, code: 'too_old', path: '[3].ts' },
    ],
  });
  expect(await latest('partly', 't')).toBe(4);
  expect(await readDeadLetters(system, 'partly')).toEqual([]);
});

test.each([
  ['an empty body', '', 'application/json', 400, 'malformed'],
  ['broken JSON', '[{"sensor_id":', 'application/json', 400, 'malformed'],
  ['broken CBOR', CBOR.subarray(0, 5), 'application/senml+cbor', 400, 'malformed'],
  ['a form', 'sensor_id=t&value=1', 'application/x-www-form-urlencoded', 415, 'unknown_format'],
  ['the content type constructor', '{"sensor_id":"t","value":1}', 'constructor', 415, 'unknown_format'],
  ['the content type __proto__', '{"sensor_id":"t","value":1}', '__proto__', 415, 'unknown_format'],
  ['bytes of an unknown format', Buffer.from([0x1f, 0x8b]), '', 415, 'unknown_format'],
  ['too many samples', `[${'0,'.repeat(10_000)}0]`, 'application/json', 413, 'too_large'],
])(
  'HTTP post of measurements: %s: an error, and no measurement is accepted',
  async (_, payload, type, status, code) => {
    const answer = await post('bad', payload, type ? { 'content-type': type } : {});
    expect(expectProblem(answer, status, code)).toMatchObject({ accepted: 0 });
  },
);

test.each([
  ['', 'bad_parameter'],
  ['?device=', 'bad_id'],
  ['?device=a%07b', 'bad_id'],
  [`?device=${'x'.repeat(129)}`, 'bad_id'],
  ['?device=a&device=b', 'bad_parameter'],
  ['?device=a&sensor=b', 'bad_parameter'],
])('HTTP post of measurements: invalid query %j: refused', async (query, code) => {
  const answer = await send(system.httpUrl, `/api/v1/measurements${query}`, { method: 'POST', body: '{}' });
  expectProblem(answer, 400, code);
});

test('HTTP post of measurements: only refused messages were sent: no device is registered, and no dead letter is written', async () => {
  expect((await system.fetch('/devices/bad')).status).toBe(404);
  expect(await readDeadLetters(system)).toEqual([]);
});

test('HTTP post of measurements: 10 MB in chunks without a length: answers 413', async () => {
  const chunk = Buffer.alloc(10_000, 0x20);
  expectProblem(await post('too-large', Array(1000).fill(chunk)), 413, 'too_large');
  expect((await system.fetch('/devices/too-large')).status).toBe(404);
});

test('HTTP post of measurements: unknown device and AUTO_REGISTER=false: refused as unknown_device', async () => {
  const closed = await startTestSystem({
    settings: { AUTO_REGISTER: 'false', API_TOKEN: 'a token of 16 or more' },
  });
  try {
    const headers = { 'content-type': 'application/json', authorization: 'Bearer a token of 16 or more' };
    const path = '/api/v1/measurements?device=d';
    const body = '[{"sensor_id":"t","value":1},{"sensor_id":"u","value":1}]';
    expectProblem(await send(closed.httpUrl, path, { method: 'POST', body }), 401, 'unauthorized');
    const answer = await send(closed.httpUrl, path, { method: 'POST', body, headers });
    expect(expectProblem(answer, 422, 'refused')).toMatchObject({
      accepted: 0,
      refused: [
        { index: 0, code: 'unknown_device' },
        { index: 1, code: 'unknown_device' },
      ],
    });
  } finally {
    await closed.stop();
  }
});
