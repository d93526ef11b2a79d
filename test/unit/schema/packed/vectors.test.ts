import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { uuidBytes } from '../../../../schema/ids.ts';
import { packBlock, visitBlock } from '../../../../schema/packed/block.ts';
import { digestOf, packSamples } from '../../../../schema/packed/pack.ts';
import { sortMerge } from '../../../../schema/packed/series.ts';
import { unpackSamples } from '../../../../schema/packed/unpack.ts';

const textOf = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const TEXT = textOf('docs/reference/packed-form.md') + textOf('test/vectors/packed-form.txt');
const READER = textOf('schema/packed/reader.py');

const fences = (language: string): string[] =>
  [...TEXT.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, body]) => String(body));

function readVector(body: string) {
  const lines = body.split('\n').filter(Boolean);
  const parts = lines.map((line) => line.split(/\s+/) as [string, ...string[]]);
  const all = (key: string) => parts.filter(([name]) => name === key).map(([, ...rest]) => rest);
  const samples = [...all('sample').map(([time, value]) => [Date.parse(String(time)), Number(value)])];
  for (const [from, every, ...values] of all('series')) {
    for (const [i, value] of values.entries()) {
      samples.push([Date.parse(String(from)) + i * Number(every), Number(value)]);
    }
  }
  return {
    bucket: Date.parse(String(all('hour')[0])),
    times: samples.map(([time]) => Number(time)),
    values: samples.map(([, value]) => Number(value)),
    blob: Buffer.from(all('blob').flat().join(''), 'hex'),
    digest: all('digest').flat().join(''),
  };
}

const vectors = fences('vector').map(readVector);

function bigEndianHex(value: number) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

const inVersion = (version: number) => vectors.filter(({ blob }) => blob[0] === version);

test.each(vectors)('Packed samples: test vector $digest: the bytes have this digest', ({ blob, digest }) => {
  expect(digestOf(blob).toString('hex')).toBe(digest);
});

test.each(inVersion(1))('Packed samples: test vector $digest: packed to the documented bytes', (vector) => {
  const { times, values } = sortMerge(vector.times, vector.values);
  const blob = packSamples(vector.bucket, times, values, 0, times.length);
  expect(blob.toString('hex')).toBe(vector.blob.toString('hex'));
});

test.each(vectors)('Packed samples: test vector $digest: unpacked to the documented samples', (vector) => {
  const { times, values } = sortMerge(vector.times, vector.values);
  const samples = unpackSamples(vector.bucket, vector.blob);
  expect([...samples.times]).toEqual([...times]);
  expect([...samples.values].map(bigEndianHex)).toEqual([...values].map(bigEndianHex));
});

/** Runs a reader of schema/packed/reader.py on vectors and on broken bytes. @param expression of what it reads of bucket `b` and bytes `h` */
function readByPython(
  reader: string,
  expression: string,
  asked: { vectors: Array<[bucket: number, hex: string]>; broken: string[] },
): unknown {
  const script = `${READER}
import json, sys
asked = json.load(sys.stdin)
def refused(blob):
    try:
        ${reader}(0, bytes.fromhex(blob))
    except ValueError:
        return True
    return False
print(json.dumps({
    "read": [${expression} for b, h in asked["vectors"]],
    "refused": [refused(blob) for blob in asked["broken"]],
}))`;
  const input = JSON.stringify(asked);
  const { error, status, stdout, stderr } = spawnSync('python3', ['-c', script], { input, encoding: 'utf8' });
  if (error) {
    throw new Error('python3 must be installed: this test runs schema/packed/reader.py', {
      cause: error,
    });
  }
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  return JSON.parse(stdout);
}

test('Python sample reader: test vectors and broken bytes: the vectors are read, and the broken bytes are refused', () => {
  const deflated = String(inVersion(2).at(-1)?.blob.toString('hex'));
  const broken = [
    '',
    '03e20400000000000000803540',
    '01e2040000',
    '01ffffffff0000000000803540',
    '02e20400000000000000803540',
    `${deflated}00`,
    deflated.slice(0, -2),
    deflated.replace('023c', '023d'),
  ];
  const asked = {
    vectors: vectors.map(({ bucket, blob }) => [bucket, blob.toString('hex')] as [number, string]),
    broken,
  };
  const expected = vectors.map((vector) => {
    const { times, values } = sortMerge(vector.times, vector.values);
    return Array.from(times, (time, i) => [time, bigEndianHex(Number(values[i]))]);
  });
  const expression = '[[t, struct.pack(">d", v).hex()] for t, v in read_samples(b, bytes.fromhex(h))]';
  expect(readByPython('read_samples', expression, asked)).toEqual({
    read: expected,
    refused: broken.map(() => true),
  });
});

/** `sensor`: hex */
type SensorLines = { sensor: string; samples: Array<[time: number, value: number]> };

function readBlockVector(body: string) {
  const sensors: SensorLines[] = [];
  const vector = { bucket: 0, blob: '', digest: '', sensors };
  for (const line of body.split('\n').filter(Boolean)) {
    const [key, ...rest] = line.trim().split(/\s+/);
    if (key === 'hour') vector.bucket = Date.parse(String(rest[0]));
    if (key === 'sensor') sensors.push({ sensor: uuidBytes(String(rest[0])).toString('hex'), samples: [] });
    if (key === 'sample') sensors.at(-1)?.samples.push([Date.parse(String(rest[0])), Number(rest[1])]);
    if (key === 'blob') vector.blob += rest.join('');
    if (key === 'digest') vector.digest = rest.join('');
  }
  return vector;
}

const blocks = fences('block').map(readBlockVector);

const inHex = (sensors: SensorLines[]) =>
  sensors.map(({ sensor, samples }) => [sensor, samples.map(([time, value]) => [time, bigEndianHex(value)])]);

test.each(blocks)(
  'Packed block: test vector $digest: packing the samples gives the documented bytes',
  ({ bucket, sensors, blob, digest }) => {
    const packed = packBlock(
      bucket,
      sensors.map(({ sensor, samples }) => ({
        sensor: Buffer.from(sensor, 'hex'),
        times: samples.map(([time]) => time),
        values: samples.map(([, value]) => value),
        from: 0,
        to: samples.length,
      })),
    );
    expect(packed.toString('hex')).toBe(blob);
    expect(digestOf(packed).toString('hex')).toBe(digest);
  },
);

test.each(blocks)(
  'Packed block: test vector $digest: unpacking the bytes gives the documented samples',
  ({ bucket, sensors, blob }) => {
    const read: SensorLines[] = [];
    visitBlock(bucket, Buffer.from(blob, 'hex'), (sensor, series) => {
      const { times, values } = series();
      read.push({
        sensor: sensor.toString('hex'),
        samples: [...times].map((time, at) => [time, Number(values[at])]),
      });
    });
    expect(inHex(read)).toEqual(inHex(sensors));
  },
);

test('Python block reader: test vectors and broken blocks: the vectors are read, and the broken blocks are refused', () => {
  const id = '00'.repeat(16);
  const whole = String(blocks[1]?.blob);
  const broken = [
    '',
    '03',
    '01e20400000000000000803540',
    `03${id}0000`,
    `03${id}01`,
    `03${id}0200${'e2040000'.repeat(2)}${'00'.repeat(16)}`,
    `03${id}010080ee3600${'00'.repeat(8)}`,
    whole.slice(0, -2),
    `${whole}00`,
  ];
  for (const hex of broken)
    expect(() => visitBlock(0, Buffer.from(hex, 'hex'), (_, s) => s())).toThrow(RangeError);
  const asked = { vectors: blocks.map(({ bucket, blob }) => [bucket, blob] as [number, string]), broken };
  const expression =
    '[[s.hex(), [[t, struct.pack(">d", v).hex()] for t, v in samples]] for s, samples in read_block(b, bytes.fromhex(h)).items()]';
  expect(readByPython('read_block', expression, asked)).toEqual({
    read: blocks.map(({ sensors }) => inHex(sensors)),
    refused: broken.map(() => true),
  });
});
