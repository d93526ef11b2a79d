import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { uuidBytes } from '../../../../schema/ids.ts';
import { packBlock, visitBlock } from '../../../../schema/packed/block.ts';
import { digestOf } from '../../../../schema/packed/pack.ts';

const textOf = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const TEXT = textOf('docs/reference/packed-form.md') + textOf('test/vectors/packed-form.txt');
const READER = textOf('schema/packed/reader.py');

/** @returns the contents of the fences of that language */
const fences = (language: string): string[] =>
  [...TEXT.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, body]) => String(body));

/** `sensor`: hex */
type SensorLines = { sensor: string; samples: Array<[time: number, value: number]> };

/** @param body the lines of one vector */
function readVector(body: string) {
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

const vectors = fences('block').map(readVector);

/** @returns its bytes in big-endian hex, so that -0 differs from 0 */
function hexOf(value: number): string {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

const inHex = (sensors: SensorLines[]) =>
  sensors.map(({ sensor, samples }) => [sensor, samples.map(([time, value]) => [time, hexOf(value)])]);

test.each(vectors)(
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

test.each(vectors)(
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
  const whole = String(vectors[1]?.blob);
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
  const script = `${READER}
import json, sys
asked = json.load(sys.stdin)
def refused(blob):
    try:
        read_block(0, bytes.fromhex(blob))
    except ValueError:
        return True
    return False
print(json.dumps({
    "read": [[[s.hex(), [[t, struct.pack(">d", v).hex()] for t, v in samples]] for s, samples in read_block(b, bytes.fromhex(h)).items()] for b, h in asked["vectors"]],
    "refused": [refused(blob) for blob in asked["broken"]],
}))`;
  const input = JSON.stringify({ vectors: vectors.map(({ bucket, blob }) => [bucket, blob]), broken });
  const { error, status, stdout, stderr } = spawnSync('python3', ['-c', script], { input, encoding: 'utf8' });
  if (error)
    throw new Error('Install python3: this test runs schema/packed/reader.py', {
      cause: error,
    });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({
    read: vectors.map(({ sensors }) => inHex(sensors)),
    refused: broken.map(() => true),
  });
});
