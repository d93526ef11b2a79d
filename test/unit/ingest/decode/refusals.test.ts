import { expect, test } from '@jest/globals';
import { encode } from 'cborg';
import { MessageDecoder } from '../../../../api/ingest/decode/index.ts';
import { refusalOf } from '../../../../api/ingest/decode/refusals.ts';
import type { Refusals } from '../../../../api/store/dead-letters.ts';
import { type ErrorCode, MillraceError } from '../../../../common/errors.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const DAY_MS = 86_400_000;
const limits = { historyMs: 365 * DAY_MS, maxClockSkewMs: 300_000, relativeTimes: true };
const A_DAY_AGO = NOW - DAY_MS;

/** @param content a JSON text, a value to encode as JSON, or raw bytes */
function read(content: unknown, contentType?: string, others?: Partial<typeof limits>) {
  const decoder = new MessageDecoder({ ...limits, ...others });
  const payload = Buffer.isBuffer(content)
    ? content
    : Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
  return decoder.decode(payload, contentType, NOW);
}

const shown = (refused: Refusals) =>
  refused.map(({ index, code, path, rule }) => [index, code, `${path}: ${rule}`]);

const good = { sensor_id: 't', ts: A_DAY_AGO, value: 1 };
const asCbor = (content: unknown) => Buffer.from(encode(content));
const SHAPE = 'is missing; a measurement looks like {"sensor_id": "temperature", "value": 21.5}';

const PLAIN: [what: string, element: unknown, code: string, expected: string][] = [
  ['is no object', 7, 'malformed', '[1]: must be an object'],
  ['is null', null, 'malformed', '[1]: must be an object'],
  ['maps names to values', { temperature: 21.5 }, 'bad_id', `[1].sensor_id: ${SHAPE}`],
  ['has no sensor_id', { value: 1 }, 'bad_id', `[1].sensor_id: ${SHAPE}`],
  ['has a number as sensor_id', { ...good, sensor_id: 7 }, 'bad_id', '[1].sensor_id: must be a text'],
  ['has no value', { sensor_id: 't' }, 'not_numeric', '[1].value: is missing'],
  ['has a text as value', { ...good, value: '1' }, 'not_numeric', '[1].value: must be a number'],
  [
    'has a text that is no time',
    { ...good, ts: 'yesterday' },
    'bad_timestamp',
    '[1].ts: must be whole epoch milliseconds or ISO 8601',
  ],
  [
    'has a fraction of a millisecond',
    { ...good, ts: A_DAY_AGO + 0.5 },
    'bad_timestamp',
    '[1].ts: must be whole epoch milliseconds or ISO 8601',
  ],
  [
    'has a time in seconds with a fraction',
    { ...good, ts: A_DAY_AGO / 1000 + 0.5 },
    'bad_timestamp',
    '[1].ts: 1795262400.5 is 1970 in ms; did you send seconds?',
  ],
  [
    'is older than history',
    { ...good, ts: NOW - 366 * DAY_MS },
    'too_old',
    '[1].ts: must not be before 2025-11-22T12:00:00.000Z, as far back as HISTORY_DAYS reaches',
  ],
  [
    'has a time in seconds',
    { ...good, ts: 1_763_900_000 },
    'too_old',
    '[1].ts: 1763900000 is 1970 in ms; did you send seconds?',
  ],
  [
    'has a time that no unit explains',
    { ...good, ts: 1 },
    'too_old',
    '[1].ts: must not be before 2025-11-22T12:00:00.000Z, as far back as HISTORY_DAYS reaches',
  ],
  [
    'is ahead of the clock',
    { ...good, ts: NOW + 300_001 },
    'in_future',
    '[1].ts: must not be after 2026-11-22T12:05:00.000Z, as far ahead as MAX_CLOCK_SKEW allows',
  ],
];

const SENML: [what: string, record: unknown, code: string, expected: string][] = [
  ['is no object', [], 'malformed', '[1]: must be an object'],
  ['has a number as name', { n: 7, v: 1 }, 'bad_id', '[1].n: must be a text'],
  ['has a text as value', { n: 't', v: '1' }, 'not_numeric', '[1].v: must be a number'],
  ['has a number as boolean', { n: 't', vb: 1 }, 'not_numeric', '[1].vb: must be true or false'],
  ['has no value', { n: 't' }, 'not_numeric', '[1].v: is missing'],
  ['has a text as time', { n: 't', t: 'now', v: 1 }, 'bad_timestamp', '[1].t: must be a number of seconds'],
  [
    'is ahead of the clock',
    { n: 't', t: 301, v: 1 },
    'in_future',
    '[1].t: must not be after 2026-11-22T12:05:00.000Z, as far ahead as MAX_CLOCK_SKEW allows',
  ],
];

test.each(PLAIN)(
  'Refusal of a JSON element: element %s: code, path and rule are reported',
  (_, element, code, text) => {
    const { refused, counts } = read([good, element, good]);
    expect(shown(refused)).toEqual([[1, code, text]]);
    expect(counts.samples).toBe(2);
  },
);

test.each(SENML)(
  'Refusal of a SenML record: record %s: code, path and rule are reported',
  (_, record, code, text) => {
    const pack = [{ n: 't', v: 1 }, record, { n: 't', t: -1, v: 1 }];
    for (const refused of [read(pack).refused, read(asCbor(pack), 'application/senml+cbor').refused]) {
      expect(shown(refused)).toEqual([[1, code, text]]);
    }
  },
);

test('Refusal of a SenML record: value or time 1e999 exceeds a double: not_finite or bad_timestamp, with the path', () => {
  const { refused } = read('[{"n":"t","v":1e999},{"n":"t","t":1e999,"v":1}]');
  expect(shown(refused)).toEqual([
    [0, 'not_finite', '[0].v: must be a finite number'],
    [1, 'bad_timestamp', '[1].t: must be a finite number of seconds'],
  ]);
});

test.each([
  ['', 'bad_id', '[1].n: must not be empty'],
  ['é'.repeat(65), 'bad_id', '[1].n: must not be longer than 128 bytes'],
  ['a\u0000', 'bad_id', '[1].n: must not contain control characters'],
  ['t', 'unknown_sensor', '[1].n: must name a registered sensor'],
  ['t', 'unknown_device', '[1]: its device must be registered'],
  ['t', 'registration_limit', '[1]: its device must not have more than 10000 sensors'],
  ['t', 'rejected', '[1]: the database refuses this content'],
])('Refusal of a sensor: name %j, code %s: path and rule are reported', (sensor, code, text) => {
  const batch = read([
    { n: 'other', v: 1 },
    { n: sensor, v: 2 },
  ]);
  batch.refuseSensor(sensor, code as ErrorCode);
  expect(shown(batch.refused)).toEqual([[1, code, text]]);
});

test.each([
  ['JSON that breaks off', '[{', undefined, 'malformed', '', /JSON/],
  ['a number', '7', undefined, 'malformed', '', /^must be an object or an array of objects$/],
  ['an unknown content type', '7', 'text/csv', 'unknown_format', '', /text\/csv/],
  ['bytes that begin like no format', Buffer.from([0xff]), undefined, 'unknown_format', '', /begins/],
  ['too many measurements', Array(10_001).fill(good), undefined, 'too_large', '', /10000/],
  ['a SenML pack that is an object', {}, 'application/senml+json', 'malformed', '', /^must be an array/],
  ['a base name that is a number', [{ n: 't', v: 1 }, { bn: 7 }], undefined, 'malformed', '[1].bn', /text/],
  ['a base time that is a text', [{ n: 't', bt: 'x' }], undefined, 'malformed', '[0].bt', /number/],
  ['a base value that is a text', [{ n: 't', bv: 'x' }], undefined, 'malformed', '[0].bv', /number/],
  ['a future version', [{ n: 't', v: 1, bver: 11 }], undefined, 'malformed', '[0].bver', /up to 10/],
  ['a label that must be understood', [{ n: 't', v: 1, x_: 1 }], undefined, 'malformed', '[0]', /"x_"/],
  ['CBOR that breaks off', Buffer.from([0x81]), undefined, 'malformed', '', /CBOR/],
  ['CBOR that is no array', asCbor({}), 'application/cbor', 'malformed', '', /^must be an array/],
  ['CBOR with a base name that is a number', asCbor([{ bn: 7 }]), undefined, 'malformed', '[0].bn', /text/],
])(
  'Refusal of a message: payload is %s: code, path and rule are reported',
  (_, content, contentType, code, path, rule) => {
    const { refused } = read(content, contentType);
    expect(refused).toEqual([{ index: -1, code, path, rule: expect.stringMatching(rule) }]);
  },
);

test('Refusal of an error: error of the decoder: its path and message are reported', () => {
  const error = new MillraceError('bad_id', 'must not be empty', { path: 'site' });
  expect(refusalOf('bad_id', error)).toEqual({
    index: -1,
    code: 'bad_id',
    path: 'site',
    rule: 'must not be empty',
  });
});

test.each([
  ['of the database', new MillraceError('rejected', 'write_dead_letter: node 10.0.0.7 refused')],
  ['of our own code', new TypeError('x is undefined at file:///srv/api/ingest/x.js')],
])('Refusal of an error: error %s: the rule contains no internals', (_, error) => {
  expect(refusalOf('rejected', error).rule).toBe('the database refuses this content');
});
