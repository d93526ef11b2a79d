import { hexOf } from './text.ts';

/**
 * Decodes CBOR (RFC 8949) to readable text: JSON notation, with byte strings as `h'…'`. Integer labels of SenML
 * (RFC 8428, table 4) are written as names.
 */

const SENML_LABELS: Record<string, string> = {
  '-1': 'bver',
  '-2': 'bn',
  '-3': 'bt',
  '-4': 'bu',
  '-5': 'bv',
  '-6': 'bs',
  0: 'n',
  1: 'u',
  2: 'v',
  3: 'vs',
  4: 'vb',
  5: 's',
  6: 't',
  7: 'ut',
  8: 'vd',
};

const SIMPLE: Record<number, string> = { 20: 'false', 21: 'true', 22: 'null', 23: 'undefined' };

/** Maximum depth of nested arrays and maps. A deeper value is refused. */
const DEEPEST = 64;

/**
 * @returns the elements of a top-level array, or the single value
 * @throws {Error} if the bytes are no CBOR, or bytes follow the value
 */
export function readCbor(bytes: Uint8Array): string[] {
  const reader = createBytesReader(bytes);
  const text = createTextReader(reader);
  const isArray = (bytes[0] ?? 0) >> 5 === 4;
  const elements = isArray ? text.items(reader.head().argument, 0) : [text.value(0)];
  if (!reader.atEnd()) throw new Error('something follows the value');
  return elements;
}

function createTextReader({ head, repeat, string, float }: ReturnType<typeof createBytesReader>) {
  function value(depth: number): string {
    if (depth > DEEPEST) throw new Error('nested too deep');
    const { major, info, argument } = head();
    switch (major) {
      case 0:
        return String(argument);
      case 1:
        return String(-1n - BigInt(argument ?? 0));
      case 2:
        return `h'${hexOf(string(major, argument))}'`;
      case 3:
        return JSON.stringify(new TextDecoder().decode(string(major, argument)));
      case 4:
        return `[${items(argument, depth).join(', ')}]`;
      case 5: {
        const members: string[] = [];
        repeat(argument, () => members.push(`${label(value(depth + 1))}: ${value(depth + 1)}`));
        return `{${members.join(', ')}}`;
      }
      case 6:
        return `${argument}(${value(depth + 1)})`;
      default:
        return String(float(info, argument) ?? SIMPLE[Number(argument)] ?? `simple(${argument})`);
    }
  }

  /** @param depth nesting depth of the array */
  function items(count: number | bigint | null, depth: number): string[] {
    const read: string[] = [];
    repeat(count, () => read.push(value(depth + 1)));
    return read;
  }

  return { value, items };
}

const label = (key: string): string => (Object.hasOwn(SENML_LABELS, key) ? `"${SENML_LABELS[key]}"` : key);

const BREAK = 0xff;

/** Creates a reader of the parts of CBOR (RFC 8949) in order: heads, and the strings that follow some heads. */
function createBytesReader(bytes: Uint8Array) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0;

  function take(length: number): Uint8Array {
    if (at + length > bytes.length) throw new Error('the bytes end too early');
    at += length;
    return bytes.subarray(at - length, at);
  }

  /** @param size length of an argument in bytes */
  function unsigned(size: number): number | bigint {
    take(size);
    if (size === 1) return view.getUint8(at - 1);
    if (size === 2) return view.getUint16(at - 2);
    return size === 4 ? view.getUint32(at - 4) : view.getBigUint64(at - 8);
  }

  /** @returns head of the next value; `argument` is null for an indefinite length */
  function head(): { major: number; info: number; argument: number | bigint | null } {
    const first = take(1)[0] ?? 0;
    const [major, info] = [first >> 5, first & 31];
    if (info < 24) return { major, info, argument: info };
    if (info < 28) return { major, info, argument: unsigned(2 ** (info - 24)) };
    if (info === 31 && major >= 2 && major <= 5) return { major, info, argument: null };
    throw new Error('a length that is reserved');
  }

  /**
   * Reads elements up to a count.
   *
   * @param count null: the elements end with a break byte
   * @param read reads the next element
   */
  function repeat(count: number | bigint | null, read: () => void) {
    if (count !== null) {
      for (let left = Number(count); left > 0; left--) read();
      return;
    }
    while (bytes[at] !== BREAK) read();
    at++;
  }

  function string(major: number, length: number | bigint | null): Uint8Array {
    if (length !== null) return take(Number(length));
    const all: number[] = [];
    repeat(null, () => {
      const part = head();
      if (part.major !== major || part.argument === null) throw new Error('a part of another kind');
      all.push(...take(Number(part.argument)));
    });
    return Uint8Array.from(all);
  }

  /**
   * @param info additional information of the last head
   * @returns the number; null: the value is no floating-point number
   */
  function float(info: number, argument: number | bigint | null): number | null {
    if (info === 25) return halfFloat(Number(argument));
    if (info === 26) return view.getFloat32(at - 4);
    return info === 27 ? view.getFloat64(at - 8) : null;
  }

  return { head, repeat, string, float, atEnd: () => at === bytes.length };
}

/** @param bits bits of a number in the format binary16 of IEEE 754 */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const [exponent, fraction] = [(bits >> 10) & 31, bits & 1023];
  if (exponent === 31) return fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
  return sign * (exponent === 0 ? fraction * 2 ** -24 : (1 + fraction / 1024) * 2 ** (exponent - 15));
}
