import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { NameCache } from '../../../../api/ingest/decode/json-cursor.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { readCommonSenml, readSenml } from '../../../../api/ingest/decode/senml.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../../schema/rules.ts';

const NOW = Date.UTC(2026, 10, 21, 12);

const emptyBatch = (names?: NameCache) =>
  new MessageBatch({ receivedAt: NOW, oldest: NOW - 1e11, newest: NOW + 300_000, relative: true }, names);

const contentOf = ({ sensors, refused, counts }: MessageBatch) => ({
  sensors: [...sensors],
  refused,
  counts,
});

/** Result of the object reader. */
function expected(text: string) {
  const batch = emptyBatch();
  readSenml(JSON.parse(text), batch);
  return contentOf(batch);
}

function fast(text: string) {
  const batch = emptyBatch();
  return readCommonSenml(Buffer.from(text), batch) ? contentOf(batch) : null;
}

const number = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer({ min: -100_000, max: 100_000 }).map((cents) => cents / 100),
  fc.integer(),
  fc.constantFrom(0, -0, 5e-324, 1.7976931348623157e308, 2 ** 53, 2 ** 53 + 2, 0.1 + 0.2, 1e21, 1e-7),
);
const name = fc.oneof(fc.constantFrom('a', 'temperature', '', 'é', 'a"b', 'tab\t'), fc.string());
const record = fc.record(
  {
    v: number,
    t: number,
    n: name,
    u: name,
    bn: name,
    bt: fc.oneof(fc.constantFrom(NOW / 1000, NOW / 1000 - 7.001), number),
    bv: number,
    bu: name,
    vs: name,
    vb: fc.boolean(),
    s: number,
  },
  { requiredKeys: [] },
);
const common = fc.record(
  { bn: fc.constantFrom('a', 'b'), bt: fc.constant(NOW / 1000), t: number, v: number, u: fc.constant('Cel') },
  { requiredKeys: ['v'] },
);

test('Fast SenML reader: any text that it accepts: the result equals that of the full SenML reader, bit by bit', () => {
  fc.assert(
    fc.property(
      fc.oneof(fc.array(common, { minLength: 1 }), fc.array(fc.oneof(common, record))),
      fc.constantFrom(undefined, 1, '\t'),
      (pack, space) => {
        const text = JSON.stringify(pack, undefined, space);
        const found = fast(text);
        if (found) expect(found).toEqual(expected(text));
      },
    ),
    { numRuns: 2000 },
  );
});

test('Fast SenML reader: one cache of sensor names for many messages: the result equals that without a cache', () => {
  const names = new NameCache();
  // There are more names than places in the cache, so names replace each other.
  const someName = fc.string({ unit: fc.constantFrom('a', 'b', '0'), maxLength: 70 });
  const pack = fc.array(fc.record({ bn: someName, n: someName, v: fc.constant(1) }), { minLength: 1 });
  fc.assert(
    fc.property(pack, (records) => {
      const text = JSON.stringify(records);
      const batch = emptyBatch(names);
      expect(readCommonSenml(Buffer.from(text), batch)).toBe(true);
      expect(contentOf(batch)).toEqual(expected(text));
    }),
    { numRuns: 2000 },
  );
});

test('Fast SenML reader: usual messages of devices: accepted, so the full reader is not needed', () => {
  fc.assert(
    fc.property(fc.array(common, { minLength: 1 }), (pack) => {
      expect(fast(JSON.stringify(pack))).not.toBeNull();
    }),
  );
});

test('Fast SenML reader: numbers in any notation: read as the doubles of JSON.parse', () => {
  const digits = fc.string({ unit: fc.constantFrom(...'0123456789'), minLength: 1, maxLength: 25 });
  const exponent = fc.constantFrom('', 'e5', 'E-3', 'e+300', 'e-330', 'e400');
  const literal = fc
    .tuple(fc.constantFrom('', '-'), digits, fc.option(digits, { nil: '' }), exponent)
    .map(([sign, whole, fraction, power]) => `${sign}${whole}${fraction && `.${fraction}`}${power}`);
  fc.assert(
    fc.property(literal, (text) => {
      const pack = `[{"bn":"a","bt":${NOW / 1000},"v":${text}}]`;
      const found = fast(pack);
      // The fast reader declines a number that JSON does not allow. JSON.parse then refuses the number.
      if (found) expect(found).toEqual(expected(pack));
      else expect(() => JSON.parse(pack)).toThrow();
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ['no characters', ''],
  ['a single object', '{"n":"a","v":1}'],
  ['an empty pack', '[]'],
  ['a comma too many', '[{"n":"a","v":1},]'],
  ['a missing bracket', '[{"n":"a","v":1}'],
  ['text after the pack', '[{"n":"a","v":1}] x'],
  ['a second value', '[{"n":"a","v":1,"v":2}]'],
  ['no value', '[{"n":"a"}]'],
  ['a text', '[{"n":"a","vs":"x"}]'],
  ['a label that must be understood', '[{"n":"a","v":1,"x_":1}]'],
  ['a label of two characters', '[{"nn":"a","v":1}]'],
  ['an escape', '[{"n":"\\u0061","v":1}]'],
  ['a number with a leading zero', '[{"n":"a","v":01}]'],
  ['NaN', '[{"n":"a","v":NaN}]'],
  ['a minus alone', '[{"n":"a","v":-}]'],
  ['a dot without digits', '[{"n":"a","v":1.}]'],
  ['an exponent without digits', '[{"n":"a","v":1e}]'],
  ['a number in quotes', '[{"n":"a","v":"1"}]'],
  ['a string that does not end', '[{"n":"a'],
  ['more samples than a message may have', `[${Array(MAX_SAMPLES_PER_MESSAGE + 1).fill('{"n":"a","v":1}')}]`],
])('Fast SenML reader: payload with %s: left to the full SenML reader', (_, text) => {
  expect(fast(text)).toBeNull();
});

test('Fast SenML reader: a payload is truncated anywhere: left to the full SenML reader', () => {
  const text = `[{"bn":"a","bt":${NOW / 1000},"u":"Cel","v":-12.5},{"t":-1,"v":3e2}]`;
  for (let length = 0; length < text.length; length++) expect(fast(text.slice(0, length))).toBeNull();
  expect(fast(text)).toEqual(expected(text));
});
