import { gzipSync } from 'node:zlib';

/** Inputs of few bytes that expand or cost CPU time, for every format that devices and clients may send. */

const MIB = 2 ** 20;
const NOW = Date.now();

const repeated = (bytes: number[], times: number = Math.floor(900_000 / bytes.length)) =>
  Buffer.concat(new Array(times).fill(Buffer.from(bytes)));

/** @returns a field of protobuf with its length */
function field(number: number, body: Buffer): Buffer {
  const length = [];
  for (let rest = body.length; ; rest >>>= 7) {
    length.push(rest > 127 ? (rest & 127) | 128 : rest);
    if (rest <= 127) break;
  }
  return Buffer.concat([Buffer.from([(number << 3) | 2, ...length]), body]);
}

/** A metric whose template has a metric with a template, and so on. */
function nestedTemplates(depth: number) {
  let metric = field(1, Buffer.from('m'));
  for (let level = 0; level < depth; level++) metric = field(18, field(2, metric));
  return field(2, metric);
}

export const MQTT_INPUTS: Array<[name: string, topic: string, payload: string | Buffer]> = [
  ['JSON: arrays in arrays', 'measurements', '['.repeat(900_000)],
  ['JSON: closed arrays in arrays', 'measurements', '['.repeat(400_000) + ']'.repeat(400_000)],
  ['JSON: objects in objects', 'measurements', '{"a":'.repeat(150_000)],
  ['JSON: an array of numbers', 'measurements', `[${'0,'.repeat(400_000)}0]`],
  ['JSON: an array of empty objects', 'measurements', `[${'{},'.repeat(300_000)}{}]`],
  [
    'JSON: an object of 80,000 members',
    'measurements',
    JSON.stringify(Object.fromEntries(Array.from({ length: 80_000 }, (_, i) => [`k${i}`, 1]))),
  ],
  ['JSON: one member 100,000 times', 'measurements', `{${'"a":1,'.repeat(100_000)}"a":1}`],
  ['JSON: a number of 900,000 digits', 'measurements', `{"sensor_id":"t","value":${'1'.repeat(900_000)}}`],
  [
    'JSON: a time of 900,000 digits',
    'measurements',
    `{"sensor_id":"t","ts":"${'1'.repeat(900_000)}","value":1}`,
  ],
  ['JSON: a text of escapes', 'measurements', `{"sensor_id":"${'\\u0041'.repeat(150_000)}","value":1}`],
  [
    'JSON: 10,000 samples of one sensor in reverse order',
    'measurements',
    JSON.stringify(Array.from({ length: 10_000 }, (_, i) => ({ sensor_id: 't', ts: NOW - i, value: i }))),
  ],
  ['JSON: a birth of objects in objects', 'birth', '{"sensors":['.repeat(70_000)],
  ['JSON: a status of 900,000 spaces', 'status', ' '.repeat(900_000)],
  ['SenML: 100,000 base names', 'measurements', `[${'{"bn":"a"},'.repeat(80_000)}{"n":"t","v":1}]`],
  ['CBOR: arrays in arrays', 'measurements', repeated([0x81])],
  ['CBOR: arrays without length in arrays', 'measurements', repeated([0x9f])],
  ['CBOR: tags on tags', 'measurements', repeated([0xc1])],
  ['CBOR: maps in maps', 'measurements', repeated([0xa1, 0x00])],
  ...[0x9b, 0xbb, 0x7b, 0x5b].map(
    (head) =>
      [
        `CBOR: the head 0x${head.toString(16)} with a length of 2^53 - 1`,
        'measurements',
        Buffer.from([0x81, head, 0, 0x1f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
      ] as [string, string, Buffer],
  ),
  [
    'CBOR: an array that claims 4 billion elements',
    'measurements',
    Buffer.from([0x9a, 0xff, 0xff, 0xff, 0xff]),
  ],
  [
    'CBOR: a bignum of 900,000 bytes',
    'measurements',
    Buffer.concat([
      Buffer.from([0x81, 0xa2, 0x00, 0x61, 0x74, 0x02, 0xc2, 0x5a, 0x00, 0x0d, 0xbb, 0xa0]),
      Buffer.alloc(900_000, 255),
    ]),
  ],
  [
    'CBOR: 900,000 empty records',
    'measurements',
    Buffer.concat([Buffer.from([0x9a, 0x00, 0x0d, 0xbb, 0xa0]), repeated([0xa0])]),
  ],
  ['gzip of 200 MiB', 'measurements', gzipSync(Buffer.alloc(200 * MIB))],
];

export const SPARKPLUG_INPUTS: Array<[name: string, payload: Buffer]> = [
  ['templates in templates', nestedTemplates(5000)],
  ['400,000 empty metrics', repeated([0x12, 0x00])],
  ['metrics of 2^31 bytes', Buffer.from([0x12, 0xff, 0xff, 0xff, 0xff, 0x07])],
  ['numbers that do not end', repeated([0xff])],
  ['groups in groups', repeated([0x13])],
];

/** Patterns of PromQL. */
const PATTERNS = [
  ['classes without regard to case', `x{device=~"(?i)${'\\\\p{L}'.repeat(2200)}"}`],
  ['ranges without regard to case', `x{device=~"(?i)${'[B-𞥂]'.repeat(80)}"}`],
  ['900 matchers', `x{${Array.from({ length: 900 }, (_, i) => `d${i}=~".a{40}"`).join()}}`],
  [
    '30 matchers',
    `x{${Array.from({ length: 30 }, (_, i) => `d${i}=~"(?i)${'\\\\p{L}.'.repeat(60)}"`).join()}}`,
  ],
  ['repeats in repeats', 'x{device=~"((a{100}){100}){100}"}'],
  ['5,000 alternatives', `x{device=~"${Array.from({ length: 5000 }, (_, i) => `${i % 10}.`).join('|')}"}`],
  ['functions in functions', `${'sum('.repeat(3000)}x`],
  ['brackets in brackets', `${'('.repeat(7900)}x${')'.repeat(7900)}`],
  ['a sum of 8,000', 'x+'.repeat(7900)],
];

export const PROMQL_INPUTS = PATTERNS as Array<[string, string]>;

/** Bodies of `POST /import`: the name, the media type, and the body. */
export const IMPORT_INPUTS: Array<[name: string, type: string, body: string | Uint8Array<ArrayBuffer>]> = [
  ['CSV: lines of 250,000 cells', 'text/csv', `ts,value\n${`${','.repeat(250_000)}\n`.repeat(16)}`],
  ['CSV: a line of quotes', 'text/csv', `ts,value\n${`${'"'.repeat(500_000)}\n`.repeat(8)}`],
  ['CSV: lines of quoted cells', 'text/csv', `ts,value\n${`${'"a",'.repeat(200_000)}\n`.repeat(8)}`],
  ['CSV: a line of 2 MB', 'text/csv', `ts,value\n${'1'.repeat(2_000_000)}`],
  ['CSV: 20,000 names of columns', 'text/csv', Array.from({ length: 20_000 }, (_, i) => `c${i}`).join()],
  ['CSV: one million empty lines', 'text/csv', `ts,value\n${'\n'.repeat(1_000_000)}`],
  [
    'CSV: 400,000 samples in reverse order',
    'text/csv',
    `ts,t\n${Array.from({ length: 400_000 }, (_, i) => `${NOW - ((i * 7919) % 400_000)},1\n`).join('')}`,
  ],
  ['NDJSON: arrays in arrays', 'application/x-ndjson', `${'['.repeat(500_000)}\n`.repeat(4)],
  [
    'NDJSON: objects of 1,900 members',
    'application/x-ndjson',
    `${JSON.stringify(Object.fromEntries(Array.from({ length: 1900 }, (_, i) => [`k${i}`, null])))}\n`.repeat(
      200,
    ),
  ],
  ['NDJSON: one million empty objects', 'application/x-ndjson', '{}\n'.repeat(1_000_000)],
];
