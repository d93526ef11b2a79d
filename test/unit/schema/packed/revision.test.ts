import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { digestOf, packSamples } from '../../../../schema/packed/pack.ts';
import { packBundle, packRevision, packUndo } from '../../../../schema/packed/revision.ts';
import { joinCorrections, mergeSeries, type Series, type Span } from '../../../../schema/packed/series.ts';
import { unpackRow, unpackSamples } from '../../../../schema/packed/unpack.ts';
import { HOUR_MS } from '../../../../schema/rules.ts';
import { sortedSeries } from './arbitraries.ts';

const HOUR = Date.UTC(2026, 10, 21, 9);
const DOCUMENT = readFileSync(new URL('../../../../docs/reference/packed-form.md', import.meta.url), 'utf8');
const READER = readFileSync(new URL('../../../../schema/packed/reader.py', import.meta.url), 'utf8');

/** With so few instants and revisions, most of them meet. */
const LAST = 12;
const instants = sortedSeries({ min: HOUR, max: HOUR + LAST, maxLength: 8 });
const spans: fc.Arbitrary<Span[]> = fc
  .uniqueArray(fc.integer({ min: 0, max: LAST + 1 }), { maxLength: 6 })
  .map((bounds) => {
    const sorted = bounds.sort((a, b) => a - b).map((bound) => HOUR + bound);
    const found: Span[] = [];
    for (let at = 0; at + 1 < sorted.length; at += 2)
      found.push({ from: Number(sorted[at]), to: Number(sorted[at + 1]) });
    return found;
  });
const row: fc.Arbitrary<Series> = fc.oneof(
  instants,
  fc
    .tuple(instants, fc.integer({ min: 1, max: 3 }), spans)
    .map(([series, at, removed]) => ({ ...series, revision: { at, spans: removed } })),
);
/** Undoes an earlier revision, which may be an undo. */
const undo: fc.Arbitrary<Series> = fc
  .tuple(fc.integer({ min: 2, max: 6 }), fc.integer({ min: 1, max: 5 }))
  .filter(([at, undoes]) => undoes < at)
  .map(([at, undoes]) => ({ times: [], values: [], revision: { at, spans: [], undoes } }));
const rows = fc.array(fc.oneof({ weight: 4, arbitrary: row }, undo), { maxLength: 8 });

function bytesOf(value: number) {
  const bytes = Buffer.alloc(8);
  bytes.writeDoubleBE(value);
  return bytes.toString('hex');
}

/** @returns the rank of a version as a string: its revision, then a value before none, then the greater bytes */
const rankOf = (at: number, value: number | null) => `${at} ${value === null ? '' : bytesOf(value)}`;

const isUndone = (at: number, list: Series[]): boolean =>
  list.some(({ revision }) => revision?.undoes === at && !isUndone(revision.at, list));

/** Merges instant by instant. */
function bruteForce(all: Series[]): Array<[ts: number, bytes: string]> {
  const list = all.filter(({ revision }) => revision === undefined || !isUndone(revision.at, all));
  const found: Array<[number, string]> = [];
  for (let ts = HOUR; ts <= HOUR + LAST; ts++) {
    const ranks = list.flatMap(({ times, values, revision }) => {
      const at = revision?.at ?? 0;
      const removals = (revision?.spans ?? []).filter(({ from, to }) => ts >= from && ts < to);
      const own = [...times].flatMap((time, index) => (time === ts ? Number(values[index]) : []));
      return [...removals.map(() => rankOf(at, null)), ...own.map((value) => rankOf(at, value))];
    });
    const bytes = ranks.sort().at(-1)?.split(' ')[1];
    if (bytes) found.push([ts, bytes]);
  }
  return found;
}

const merged = (list: Series[]) => {
  const { times, values } = mergeSeries(list);
  return Array.from(times, (time, index) => [time, bytesOf(Number(values[index]))]);
};

test('Merge of corrections: random rows, shuffled and repeated: of each instant the newest revision is kept', () => {
  const shuffled = fc.tuple(rows, fc.array(fc.nat({ max: 7 }), { maxLength: 4 }), fc.func(fc.integer()));
  fc.assert(
    fc.property(shuffled, ([list, again, rank]) => {
      const expected = bruteForce(list);
      expect(merged(list)).toEqual(expected);
      const repeated = [...list, ...again.flatMap((index) => list[index] ?? [])];
      const places = new Map(repeated.map((_, index) => [index, rank(index)]));
      const order = [...repeated.keys()].sort((a, b) => Number(places.get(a)) - Number(places.get(b)));
      expect(merged(order.map((index) => repeated[index] as Series))).toEqual(expected);
    }),
  );
});

test('Joined corrections: random rows with later corrections: the joined row gives the same samples', () => {
  const later = fc
    .array(row)
    .map((list) =>
      list.flatMap(({ revision, ...series }) =>
        revision ? { ...series, revision: { ...revision, at: revision.at + 6 } } : [],
      ),
    );
  fc.assert(
    fc.property(rows, later, (earlier, young) => {
      const corrections = earlier.filter(({ revision }) => revision !== undefined);
      const joined = joinCorrections(corrections);
      const plain = earlier.filter(({ revision }) => revision === undefined);
      expect(merged([...plain, ...(joined ? [joined] : []), ...young])).toEqual(
        bruteForce([...earlier, ...young]),
      );
      if (joined && !isEmpty(joined)) expect(() => packed(joined)).not.toThrow();
    }),
  );
});

test('Packed undo: of an earlier revision: packed and unpacked unchanged; of a later one: refused', () => {
  const { revision, times } = unpackSamples(HOUR, packUndo(7, 5));
  expect([revision, times.length]).toEqual([{ at: 7, spans: [], undoes: 5 }, 0]);
  expect(() => packUndo(5, 5)).toThrow(RangeError);
});

const isEmpty = ({ times, revision }: Series) => times.length === 0 && revision?.spans.length === 0;

test('Packed revision: random corrections: packed and unpacked unchanged', () => {
  fc.assert(
    fc.property(
      row.filter((series) => series.revision !== undefined && !isEmpty(series)),
      ({ times, values, revision = { at: 1, spans: [] } }) => {
        const samples = times.length > 0 ? { times, values, from: 0, to: times.length } : null;
        const unpacked = unpackSamples(HOUR, packRevision(HOUR, revision, samples));
        expect(unpacked.revision).toEqual(revision);
        expect([[...unpacked.times], [...unpacked.values]]).toEqual([times, values]);
      },
    ),
  );
});

test('Packed bundle: random corrections: unpacked to the same series, and broken bundles are refused', () => {
  const parts = fc.array(
    fc.oneof(row, undo).filter((series) => series.revision !== undefined && isPackable(series)),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(parts, (list) => {
      const blobs = list.map(packed);
      const blob = packBundle(blobs);
      expect(unpackRow(HOUR, blob)).toEqual(blobs.map((part) => unpackSamples(HOUR, part)));
      expect(() => unpackRow(HOUR, blob.subarray(0, -1))).toThrow(RangeError);
      expect(() => unpackRow(HOUR, Buffer.concat([blob, Buffer.from([0])]))).toThrow(RangeError);
      expect(() => unpackRow(HOUR, packBundle([blob]))).toThrow(RangeError);
    }),
  );
  expect(() => unpackRow(HOUR, packBundle([]))).toThrow(RangeError);
});

test('Packed samples: without a correction: the unpacked series has no revision', () => {
  const blob = packSamples(HOUR, [HOUR], [1], 0, 1);
  expect(Object.keys(unpackSamples(HOUR, blob))).toEqual(['times', 'values']);
});

const SPAN = { from: HOUR + 1000, to: HOUR + 2000 };
const EXAMPLE = packRevision(
  HOUR,
  { at: 1_795_254_600_000_000, spans: [SPAN] },
  {
    times: [HOUR + 1250],
    values: [21.5],
    from: 0,
    to: 1,
  },
);

test('Packed revision: example of docs/reference/packed-form.md: packed to the documented bytes', () => {
  const [, body] = /^```revision\n(.*?)^```$/ms.exec(DOCUMENT) ?? [];
  expect(body?.match(/^blob(.*)$/m)?.[1]?.replaceAll(' ', '')).toBe(EXAMPLE.toString('hex'));
  expect(body?.match(/^digest(.*)$/m)?.[1]?.trim()).toBe(digestOf(EXAMPLE).toString('hex'));
});

const changed = (change: (bytes: Buffer) => unknown) => {
  const bytes = Buffer.from(EXAMPLE);
  change(bytes);
  return bytes;
};

const BROKEN: Array<[name: string, blob: Buffer, message: RegExp]> = [
  ['a cut head', EXAMPLE.subarray(0, 12), /of 12 bytes is cut off/],
  ['revision 0', changed((bytes) => bytes.fill(0, 1, 9)), /0 is no revision/],
  ['a revision above 2^53', changed((bytes) => bytes.fill(255, 1, 9)), /is no revision/],
  ['more spans than bytes', changed((bytes) => bytes.writeUInt32LE(9, 9)), /within its 9 spans/],
  ['an empty span', changed((bytes) => bytes.writeUInt32LE(1000, 17)), /from 1000 to 1000 ms is empty/],
  ['a span beyond the hour', changed((bytes) => bytes.writeUInt32LE(HOUR_MS + 1, 17)), /3600001 ms after/],
  ['broken samples', EXAMPLE.subarray(0, -1), /are needed/],
  ['a revision within a revision', changed((bytes) => bytes.writeUInt8(5, 21)), /of version 5/],
  [
    'an undo of itself',
    Buffer.concat([Buffer.from([6]), EXAMPLE.subarray(1, 9), EXAMPLE.subarray(1, 9)]),
    /cannot undo/,
  ],
  ['a cut undo', Buffer.concat([Buffer.from([6]), EXAMPLE.subarray(1, 9)]), /an undo of 9 bytes/],
  ['nothing to correct', changed((bytes) => bytes.writeUInt32LE(0, 9)).subarray(0, 13), /corrects nothing/],
];

test.each(BROKEN)('Packed revision: reading %s: a RangeError is thrown', (_, blob, message) => {
  expect(() => unpackSamples(HOUR, blob)).toThrow(message);
  expect(() => unpackSamples(HOUR, blob)).toThrow(RangeError);
});

test.each([
  ['nothing', [], null],
  ['a span before the hour', [{ from: HOUR - 1, to: HOUR + 1 }], null],
  ['spans that overlap', [SPAN, SPAN], null],
  ['a sample of another hour', [], { times: [HOUR - 1], values: [1], from: 0, to: 1 }],
])('Packed revision: packing %s: a RangeError is thrown', (_, removed, samples) => {
  expect(() => packRevision(HOUR, { at: 1, spans: removed }, samples)).toThrow(RangeError);
});

test('Python reader: random rows of an hour, and broken ones: merged as by brute force, and the broken ones are refused', () => {
  const cases = fc.sample(rows, 40);
  const blobs = cases.map((list, index) => {
    const all = list.filter(isPackable);
    const corrections = all.filter(({ revision }) => revision !== undefined).map(packed);
    const isBundled = index % 2 === 0 && corrections.length > 0;
    const rest = isBundled ? all.filter(({ revision }) => revision === undefined) : all;
    return [...rest.map(packed), ...(isBundled ? [packBundle(corrections)] : [])].map((blob) =>
      blob.toString('hex'),
    );
  });
  const script = `${READER}
import json, sys
asked = json.load(sys.stdin)
def refused(blob):
    try:
        read_revision(0, bytes.fromhex(blob))
    except ValueError:
        return True
    return False
read = [[[t, struct.pack(">d", v).hex()] for t, v in merge_rows(${HOUR}, [bytes.fromhex(b) for b in blobs])] for blobs in asked["blobs"]]
print(json.dumps({"read": read, "refused": [refused(blob) for blob in asked["broken"]]}))`;
  const input = JSON.stringify({ blobs, broken: BROKEN.map(([, blob]) => blob.toString('hex')) });
  const { status, stdout, stderr } = spawnSync('python3', ['-c', script], { input, encoding: 'utf8' });
  expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
  expect(JSON.parse(stdout)).toEqual({ read: cases.map(bruteForce), refused: BROKEN.map(() => true) });
});

const isPackable = ({ times, revision }: Series) =>
  times.length > 0 || (revision?.spans.length ?? 0) > 0 || revision?.undoes !== undefined;

function packed({ times, values, revision }: Series): Buffer {
  if (revision?.undoes !== undefined) return packUndo(revision.at, revision.undoes);
  if (!revision) return packSamples(HOUR, times, values, 0, times.length);
  const samples = times.length > 0 ? { times, values, from: 0, to: times.length } : null;
  return packRevision(HOUR, revision, samples);
}
