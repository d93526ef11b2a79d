import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { digestOf, packSamples } from '../../../../schema/packed/pack.ts';
import { sortMerge } from '../../../../schema/packed/series.ts';
import { unpackSamples } from '../../../../schema/packed/unpack.ts';

const textOf = (path: string) => readFileSync(new URL(`../../../../${path}`, import.meta.url), 'utf8');
const TEXT = textOf('docs/reference/packed-form.md') + textOf('test/vectors/packed-form.txt');
const READER = textOf('schema/packed/reader.py');

/** @returns the contents of the fences of that language */
const fences = (language: string): string[] =>
  [...TEXT.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, body]) => String(body));

/** @param body the lines of one vector */
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
  const script = `${READER}
import json, sys
asked = json.load(sys.stdin)
def refused(blob):
    try:
        read_samples(0, bytes.fromhex(blob))
    except ValueError:
        return True
    return False
print(json.dumps({
    "read": [[[t, struct.pack(">d", v).hex()] for t, v in read_samples(b, bytes.fromhex(h))] for b, h in asked["vectors"]],
    "refused": [refused(blob) for blob in asked["broken"]],
}))`;
  const input = JSON.stringify({
    vectors: vectors.map(({ bucket, blob }) => [bucket, blob.toString('hex')]),
    broken,
  });
  const { error, status, stdout, stderr } = spawnSync('python3', ['-c', script], { input, encoding: 'utf8' });
  if (error) {
    throw new Error('python3 must be installed: this test runs schema/packed/reader.py', {
      cause: error,
    });
  }
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  const expected = vectors.map((vector) => {
    const { times, values } = sortMerge(vector.times, vector.values);
    return Array.from(times, (time, i) => [time, bigEndianHex(Number(values[i]))]);
  });
  expect(JSON.parse(stdout)).toEqual({ read: expected, refused: broken.map(() => true) });
});
