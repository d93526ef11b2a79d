import { expect, test } from '@jest/globals';
import { LineDecoder, type Precision } from '../../../../api/features/line-protocol/decoder.ts';
import { LineSkip } from '../../../../api/features/line-protocol/skip.ts';
import { MessageDecoder } from '../../../../api/ingest/decode/index.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const limits = { historyMs: 365 * 86_400_000, maxClockSkewMs: 300_000, relativeTimes: true };
const DEFAULT_TAGS = ['device', 'device_id', 'host', 'source'];

function read(
  content: string | Buffer,
  {
    precision = 'ns',
    deviceTags = DEFAULT_TAGS,
    relativeTimes = true,
    contentType,
    skip = [],
  }: {
    precision?: Precision;
    deviceTags?: string[];
    relativeTimes?: boolean;
    contentType?: string;
    skip?: string[];
  } = {},
) {
  const messages = new MessageDecoder({ ...limits, relativeTimes });
  const decoder = new LineDecoder({
    deviceTags,
    skip: new LineSkip(skip),
    emptyBatch: (at) => messages.emptyBatch(at),
  });
  const { devices, ...result } = decoder.decode(Buffer.from(content), precision, NOW, contentType);
  const batches = [...devices].flatMap(([device, all]) => all.map((batch) => ({ device, batch })));
  return {
    ...result,
    devices,
    found: batches.flatMap(({ device, batch }) =>
      [...batch.sensors].flatMap(([sensor, { times, values }]) =>
        times.map((ts, at) => [device, sensor, ts - NOW, values[at]]),
      ),
    ),
    refused: [
      ...result.refused.map(({ line, ...refusal }) => ({ index: line, ...refusal })),
      ...batches.flatMap(({ batch }) => batch.refused),
    ].map(({ index, code, path, rule }) => [index, code, `${path}: ${rule}`]),
  };
}

test.each([
  ['m,device=a,host=b v=1', 'a', 'm.v{host=b}'],
  ['m,host=b,device=a v=1', 'a', 'm.v{host=b}'],
  ['m,source=d,host=c v=1', 'c', 'm.v{source=d}'],
  ['m,source=d v=1', 'd', 'm.v'],
  ['m v=1', 'm', 'm.v'],
  ['m,room=a v=1', 'm', 'm.v{room=a}'],
  ['m,room=a,floor=2 v=1', 'm', 'm.v{floor=2,room=a}'],
  ['m,floor=2,room=a v=1', 'm', 'm.v{floor=2,room=a}'],
  [String.raw`m,a=1\,b\=2 v=1`, 'm', String.raw`m.v{a=1\,b\=2}`],
  ['m,a=1,b=2 v=1', 'm', 'm.v{a=1,b=2}'],
])('Line protocol: %s: device %s, sensor %s', (line, device, sensor) => {
  expect(read(line).found).toEqual([[device, sensor, 0, 1]]);
});

test('Line protocol: LINE_DEVICE_TAGS is set: only tags listed there name the device', () => {
  const { found } = read('m,name=plc,host=h v=1\nm,host=h v=2', { deviceTags: ['name'] });
  expect(found).toEqual([
    ['plc', 'm.v{host=h}', 0, 1],
    ['m', 'm.v{host=h}', 0, 2],
  ]);
});

test('Line protocol: string fields: skipped and counted; a line with only string fields is not refused', () => {
  const { found, skipped, lines, refused } = read('m a="x",b=1,c="y"\nm a="x"');
  expect([found, skipped, lines, refused]).toEqual([[['m', 'm.b', 0, 1]], 3, 2, []]);
});

test('Line protocol: 21,000 values of one device: split into messages of 9,000, 9,000 and 3,000 values', () => {
  const line = `m ${Array.from({ length: 3000 }, (_, at) => `f${at}=1`).join()}`;
  const { devices } = read(Array(7).fill(line).join('\n'));
  expect(devices.get('m')?.map(({ counts }) => counts.samples)).toEqual([9000, 9000, 3000]);
});

test('Line protocol: 100,000 lines: accepted; one more: refused with too_large', () => {
  const lines = 'm v=1\n'.repeat(100_000);
  expect(read(lines).lines).toBe(100_000);
  expect(() => read(`${lines}m v=1`)).toThrow(expect.objectContaining({ code: 'too_large' }));
});

test.each([
  ['ns', `${NOW - 5}999999`, -5],
  ['us', `${NOW - 5}999`, -5],
  ['ms', `${NOW - 5}`, -5],
  ['s', `${NOW / 1000 - 5}`, -5000],
  ['m', `${NOW / 60_000 - 5}`, -300_000],
  ['h', `${NOW / 3_600_000 - 5}`, -18_000_000],
] as [Precision, string, number][])(
  'Line protocol: time with precision %s: rounded down to milliseconds',
  (precision, time, expected) => {
    expect(read(`m v=1 ${time}`, { precision }).found).toEqual([['m', 'm.v', expected, 1]]);
  },
);

test.each([
  ['ns', String(NOW / 1000), 'too_old', 'is in ns here, and would be a good time in s; set precision=s'],
  ['ns', String(NOW), 'too_old', 'is in ns here, and would be a good time in ms; set precision=ms'],
  ['s', `${NOW}000000`, 'in_future', 'is in s here, and would be a good time in ns; set precision=ns'],
  ['ns', '0', 'too_old', 'must not be before 2025-11-22T12:00:00.000Z, as far back as HISTORY_DAYS reaches'],
  ['ns', '-1', 'too_old', 'must not be before 2025-11-22T12:00:00.000Z, as far back as HISTORY_DAYS reaches'],
  [
    'ms',
    `${NOW + 300_001}`,
    'in_future',
    'must not be after 2026-11-22T12:05:00.000Z, as far ahead as MAX_CLOCK_SKEW allows',
  ],
] as [Precision, string, string, string][])(
  'Line protocol: precision %s, time %s: line is refused once with %s',
  (precision, time, code, rule) => {
    const { found, refused } = read(`m v=1\nm v=2,w=3 ${time}`, { precision });
    expect([found.length, refused]).toEqual([1, [[2, code, `timestamp: ${rule}`]]]);
  },
);

test('Line protocol: a line has no timestamp, RELATIVE_TIMES is off: refused with bad_timestamp', () => {
  expect(read('m v=1', { relativeTimes: false }).refused).toEqual([
    [1, 'bad_timestamp', 'timestamp: must be an absolute time, since RELATIVE_TIMES is off'],
  ]);
});

test.each([
  ['the device', Buffer.from('m,host=\xff v=2', 'latin1')],
  ['a tag', Buffer.from('m,host=a,b=\xff v=2', 'latin1')],
  ['the field', Buffer.from('m,host=a \xff=2', 'latin1')],
  ['the measurement', Buffer.from('\xff v=2', 'latin1')],
])('Line protocol: bytes of %s are not UTF-8: only this line is refused', (_, line) => {
  const { found, refused } = read(Buffer.concat([Buffer.from('m v=1\n'), line, Buffer.from('\nm w=3')]));
  const rule = expect.stringMatching(/^: must be UTF-8; the text seems to be Windows-1252/);
  expect([found.length, refused]).toEqual([2, [[2, 'malformed', rule]]]);
});

test('Line protocol: more than 10,000 broken lines: the request is refused with too_large', () => {
  expect(read('a\n'.repeat(10_000)).refused).toHaveLength(10_000);
  expect(() => read('a\n'.repeat(10_001))).toThrow(
    expect.objectContaining({ code: 'too_large', message: expect.stringContaining('such as line 10001') }),
  );
});

test('Line protocol: measurement, field and tags are longer than 128 bytes together: the rule has the remedy', () => {
  const { devices } = read(`cpu,device=d,image=${'x'.repeat(130)} usage=1`);
  const [batch] = devices.get('d') ?? [];
  for (const sensor of [...(batch?.sensors.keys() ?? [])]) batch?.refuseSensor(sensor, 'bad_id');
  expect(batch?.refused).toEqual([
    expect.objectContaining({ code: 'bad_id', rule: expect.stringMatching(/128 bytes; .*tagexclude/) }),
  ]);
});

// telegraf#10849, telegraf#8826: the last good value with a bad quality.
test.each([
  [
    'Quality!=OK*',
    'o v=1,Quality="OK (0x0)"\no v=2,Quality="BadCommunicationError (0x80050000)"\no v=3',
    [1, 3],
  ],
  ['Quality!=OK (0x0)', 'o v=2,Quality="Uncertain, \\"last\\""\no v=1,Quality="OK (0x0)"', [1]],
  ['quality=bad', 'o,quality=bad v=1\no,quality=good v=2', [2]],
  ['device=test*', 'o,device=test-1 v=1\no,device=d v=2', [2]],
  ['quality!=192', 'o v=1,quality=192i\no v=2,quality=28i', [1, 192]],
  ['v=-127', 'o v=-127,w=-127\no v=-127.0,w=1\no v=-126.9', [-127, 1, -126.9]],
  ['*=32768,*=-32768', 'o v=32768,w=-32768i\no v=32767', [32767]],
  ['v=670760.96', 'o v=670760.96\no v=20', [20]],
  ['v=true', 'o v=true\no v=1\no v=f', [0]],
  ['v=', 'o v=1,u=""', [1]],
  ['u=', 'o v=1,u=""', []],
])('Line protocol: LINE_SKIP=%s: %j: the values %j are stored', (conditions, lines, expected) => {
  const { found, refused } = read(lines, { skip: conditions.split(',') });
  const values = found.map(([, , , value]) => Number(value));
  expect([values.sort((a, b) => a - b), refused]).toEqual([[...expected].sort((a, b) => a - b), []]);
});
