import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { LineDecoder } from '../../../../api/features/line-protocol/decoder.ts';
import { LineSkip } from '../../../../api/features/line-protocol/skip.ts';
import {
  checkApart,
  checkDoor,
  decoder,
  NOW,
  type Result,
  resultOf,
} from '../../../support/payloads/sources.ts';

const lines = new LineDecoder({
  deviceTags: ['device'],
  skip: new LineSkip([]),
  emptyBatch: (at) => decoder.emptyBatch(at),
});

function readLines(text: string): Result {
  const { devices, refused } = lines.decode(Buffer.from(text), 'ns', NOW);
  const batches = [...devices].flatMap(([device, all]) => all.flatMap((batch) => resultOf(device, batch)));
  return [...batches, ...refused.map(({ code }) => `refused ${code}`)];
}

/** @returns escaped as a measurement, a tag or a field of line protocol */
const escaped = (text: string): string => text.replaceAll(/[,= ]/g, '\\$&').replaceAll(/\\$/g, '\\x');

test('Line protocol: two different series: different sensors, or a refusal', () => {
  const sends = (measurement: string, field: string, value: number) =>
    readLines(`${escaped(measurement)},device=d ${escaped(field)}=${value}`);
  checkDoor(([measurement = '', field = ''], value) => sends(measurement, field, value), 2);
  const tag = fc.tuple(
    fc.constantFrom('v', 'v{a=1}', 'v{a=1,b=2}'),
    fc.constantFrom('', ',a=1', ',a=1\\,b\\=2', ',a=1,b=2'),
  );
  const property = fc.property(tag, tag, (one, other) => {
    const results = [one, other].map(([field, tags], value) =>
      readLines(`m,device=d${tags} ${escaped(field)}=${value}`),
    );
    checkApart(results, JSON.stringify(one) === JSON.stringify(other));
  });
  fc.assert(property);
});

test.each([
  [
    'telegraf#595: measurement net.bytes and field in, measurement net and field bytes.in',
    () => readLines('net.bytes,device=d in=1\nnet,device=d bytes.in=2'),
    ['d/net.bytes.in 1', String.raw`d/net.bytes\.in 2`],
  ],
  [
    'telegraf#876: a tag, and a field that looks like one',
    () => readLines(String.raw`m,device=d,a=1 v=3${'\n'}m,device=d v{a\=1}=4`),
    ['d/m.v{a=1} 3', String.raw`d/m.v\{a=1} 4`],
  ],
  ['influxdb: a tag twice in a line', () => readLines('m,a=1,a=2 v=1'), ['refused malformed']],
  ['influxdb: a field twice in a line', () => readLines('m v=1,w=2,v=3'), ['refused malformed']],
  [
    'a field twice in a line, once with an escape',
    () => readLines('m v"=1\nm v\\"=2\nm v"=1,v\\"=2'),
    ['m/m.v" 1', 'm/m.v" 2', 'refused malformed'],
  ],
  [
    'a field twice in a line, in another order',
    () => readLines('m v=1,w=2\nm w=1,w=3'),
    ['m/m.v 1', 'm/m.w 2', 'refused malformed'],
  ],
] as Array<[string, () => Result, Result]>)(
  'Line protocol: two sources: %s: two sensors, or a refusal',
  (_, read, expected) => expect(read()).toEqual(expected),
);
