import { isUtf8 } from 'node:buffer';
import { decode, Tokenizer, Type } from 'cborg';
import { brokenUtf8Rule } from '../../../common/encodings.ts';
import { MillraceError, messageOf } from '../../../common/errors.ts';
import { MAX_SAMPLES_PER_MESSAGE } from '../../../schema/rules.ts';

/** A map of seven labels and their values has 15 items. */
const ITEMS_PER_SAMPLE = 16;

/** Labels in CBOR are small integers (RFC 8428, table 6). */
const LABELS = new Map([
  [-6, 'bs'],
  [-5, 'bv'],
  [-4, 'bu'],
  [-3, 'bt'],
  [-2, 'bn'],
  [-1, 'bver'],
  [0, 'n'],
  [1, 'u'],
  [2, 'v'],
  [3, 'vs'],
  [4, 'vb'],
  [5, 's'],
  [6, 't'],
  [7, 'ut'],
  [8, 'vd'],
]);

const OPTIONS = {
  // The bytes of strings are needed to check their UTF-8. cborg replaces invalid bytes by replacement characters.
  retainStringBytes: true,
  // Without this option one integer beyond 2^53 makes the whole pack malformed.
  allowBigInt: true,
  useMaps: true,
  // If two labels are equal, only one value could be read.
  rejectDuplicateMapKeys: true,
  tags: {
    // A decimal fraction, [exponent, mantissa]: RFC 8428, section 6, allows it for numbers (RFC 8949, section 3.4.4). The number is parsed
    // from text, so that 2025 with exponent -2 becomes the double nearest to 20.25. A product is not always the nearest double.
    4: (content: () => unknown) => {
      const [exponent, mantissa] = content() as unknown[];
      return Number(`${mantissa}e${exponent}`);
    },
  },
};

/** An item of one byte takes 50 bytes of memory, so a payload of 1 MB could block the process. */
class BoundedTokenizer extends Tokenizer {
  #items = 0;

  override next() {
    if (++this.#items > MAX_SAMPLES_PER_MESSAGE * ITEMS_PER_SAMPLE) {
      throw new MillraceError('too_large', `${MAX_SAMPLES_PER_MESSAGE} records are the most`);
    }
    const token = super.next();
    if (token.type === Type.string && token.byteValue && !isUtf8(token.byteValue)) {
      throw new MillraceError('malformed', `a text ${brokenUtf8Rule(token.byteValue)}`);
    }
    return token;
  }
}

/** The tag 55799, which only marks the bytes as CBOR (RFC 8949, section 3.4.6). */
const SELF_DESCRIBED = Buffer.from([0xd9, 0xd9, 0xf7]);

export const isSelfDescribed = (payload: Buffer): boolean =>
  payload[0] === SELF_DESCRIBED[0] && payload.subarray(0, SELF_DESCRIBED.length).equals(SELF_DESCRIBED);

/** Returns records like those of SenML JSON (RFC 8428, section 6). @throws `malformed`, `too_large` */
export function parseSenmlCbor(payload: Buffer): unknown[] {
  let bytes = payload;
  while (isSelfDescribed(bytes)) bytes = bytes.subarray(SELF_DESCRIBED.length);
  let records: unknown;
  try {
    records = decode(bytes, { ...OPTIONS, tokenizer: new BoundedTokenizer(bytes, OPTIONS) });
  } catch (error) {
    if (error instanceof MillraceError) throw error;
    throw new MillraceError('malformed', messageOf(error), { cause: error });
  }
  if (!Array.isArray(records)) throw new MillraceError('malformed', 'must be an array of SenML records');
  return records.map(toLabelled);
}

function toLabelled(record: unknown, index: number): unknown {
  if (!(record instanceof Map)) return record;
  const fields: Record<string, unknown> = {};
  for (const [key, value] of record) {
    const label = typeof key === 'number' ? (LABELS.get(key) ?? String(key)) : String(key);
    // A label `__proto__` would set the prototype. A pack with an unknown label that ends in "_" must be refused as a
    // whole (RFC 8428, section 4.4).
    if (label === '__proto__') {
      throw new MillraceError('malformed', 'SenML has no label __proto__', { path: `[${index}]` });
    }
    // A label may be a number and a text: 2 and "v".
    if (Object.hasOwn(fields, label)) {
      throw new MillraceError('malformed', `must have the label ${label} once`, { path: `[${index}]` });
    }
    // Integers beyond 2^53 are bigints. Millrace stores doubles.
    fields[label] = typeof value === 'bigint' ? Number(value) : value;
  }
  return fields;
}
