import { isUtf8 } from 'node:buffer';
import { MillraceError } from './errors.ts';

/** RFC 9110, section 8.3.2 */
const CHARSET = /;\s*charset\s*=\s*"?([\w.:-]+)"?/i;

export const charsetOf = (contentType: string | undefined): string | undefined =>
  CHARSET.exec(contentType ?? '')?.[1]?.toLowerCase();

/** Unicode 16.0, 23.8. The mark of UTF-32 LE begins like that of UTF-16 LE, so it is compared first. */
const MARKS = [
  { charset: 'utf-8', bytes: Buffer.from([0xef, 0xbb, 0xbf]) },
  { charset: 'utf-32le', bytes: Buffer.from([0xff, 0xfe, 0, 0]) },
  { charset: 'utf-32be', bytes: Buffer.from([0, 0, 0xfe, 0xff]) },
  { charset: 'utf-16le', bytes: Buffer.from([0xff, 0xfe]) },
  { charset: 'utf-16be', bytes: Buffer.from([0xfe, 0xff]) },
];

/** Places of the zero bytes if the first two characters are ASCII (RFC 4627, section 3). `x`: no zero byte. */
const ZEROS = [
  { charset: 'utf-16le', places: /^x0x0/ },
  { charset: 'utf-16be', places: /^0x(0x|$)/ },
  { charset: 'utf-32le', places: /^x000x000/ },
  { charset: 'utf-32be', places: /^000x/ },
];

const HEAD_BYTES = 8;

const NAMES: Record<string, string> = {
  'utf-16le': 'UTF-16 LE',
  'utf-16be': 'UTF-16 BE',
  'utf-32le': 'UTF-32 LE',
  'utf-32be': 'UTF-32 BE',
};

/** The Encoding Standard reads US-ASCII as Windows-1252, but senders that declare ASCII and send other bytes send UTF-8. */
const READ_AS_UTF8 = ['utf8', 'us-ascii', 'ascii'];

/**
 * The order: the byte order mark, the zero bytes, the charset that the sender declares, UTF-8.
 * @param bytes the text, or at least its first 8 bytes
 * @returns `charset`: in lower case; `mark`: length of the byte order mark; `isShown`: whether the bytes themselves
 *   show the encoding
 */
export function encodingOf(
  bytes: Uint8Array,
  declared: string = 'utf-8',
): { charset: string; mark: number; isShown: boolean } {
  const first = bytes[0] ?? 1;
  // Nearly every text begins with two characters of ASCII.
  const shown = first === 0 || first >= 0x80 || bytes[1] === 0 ? shownEncoding(bytes) : undefined;
  if (shown) return { ...shown, isShown: true };
  const charset = declared.toLowerCase();
  return { charset: READ_AS_UTF8.includes(charset) ? 'utf-8' : charset, mark: 0, isShown: false };
}

function shownEncoding(bytes: Uint8Array) {
  const head = Buffer.from(bytes.subarray(0, HEAD_BYTES));
  const mark = MARKS.find((each) => head.subarray(0, each.bytes.length).equals(each.bytes));
  if (mark) return { charset: mark.charset, mark: mark.bytes.length };
  const places = [...head].map((byte) => (byte === 0 ? '0' : 'x')).join('');
  const shown = ZEROS.find((each) => each.places.test(places));
  return shown && { charset: shown.charset, mark: 0 };
}

/**
 * Removes byte order marks before the text, and NUL bytes after it, which programs in C send as padding. Bytes that are
 * invalid in the encoding are refused. With replacement characters, two different names could become equal.
 * @throws `malformed`: the bytes are no text in the encoding; `unknown_format`: the encoding cannot be
 *   decoded
 */
export function decodeText(bytes: Uint8Array, declared?: string): string {
  const { charset, mark } = encodingOf(bytes, declared);
  const content = bytes.subarray(mark);
  if (charset !== 'utf-8') return trimmed(new Decoder(charset).decode(content));
  if (!isUtf8(content)) throw new MillraceError('malformed', brokenUtf8Rule(content));
  return trimmed(Buffer.from(content.buffer, content.byteOffset, content.length).toString());
}

/**
 * For a text of which only some names matter. Bytes that are not UTF-8 become U+FFFD, which no name may contain.
 * @returns `rule`: the rule that invalid bytes break; null: there are none
 * @throws as `decodeText`, but not for bytes that are not UTF-8
 */
export function decodeReplacing(bytes: Uint8Array, declared?: string): { text: string; rule: string | null } {
  const { charset } = encodingOf(bytes, declared);
  if (charset !== 'utf-8' || isUtf8(bytes)) return { text: decodeText(bytes, declared), rule: null };
  return { text: trimmed(new TextDecoder().decode(bytes)), rule: brokenUtf8Rule(bytes) };
}

/** Without byte order marks before the text, and NUL characters after it. */
function trimmed(text: string): string {
  let start = 0;
  while (text.charCodeAt(start) === 0xfeff) start++;
  let end = text.length;
  while (end > start && text.charCodeAt(end - 1) === 0) end--;
  return text.slice(start, end);
}

/** Decodes and throws by the rules of `decodeText`, but keeps NUL bytes after the text. */
export class TextStream {
  #declared;
  #head = Buffer.alloc(0);
  #decoder: Decoder | undefined;

  constructor(declared?: string) {
    this.#declared = declared;
  }

  write(chunk: Uint8Array): string {
    if (this.#decoder) return this.#decoder.decode(chunk, { stream: true });
    this.#head = Buffer.concat([this.#head, chunk]);
    return this.#head.length < HEAD_BYTES ? '' : this.#begin({ stream: true });
  }

  end(): string {
    return this.#decoder ? this.#decoder.decode(Buffer.alloc(0)) : this.#begin({ stream: false });
  }

  #begin(options: { stream: boolean }) {
    const { charset, mark } = encodingOf(this.#head, this.#declared);
    this.#decoder = new Decoder(charset);
    return this.#decoder.decode(this.#head.subarray(mark), options);
  }
}

/**
 * The characters of the bytes 0x80 to 0x9f in Windows-1252 (Encoding Standard, 9). `TextDecoder` of Node.js reads these bytes as
 * ISO 8859-1 (node#56542).
 */
const WINDOWS_1252 = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ';

/** Names the encoding that invalid bytes seem to have. */
class Decoder {
  #charset;
  #decoder;

  /** @throws `unknown_format`: there is no decoder for the charset */
  constructor(charset: string) {
    this.#charset = charset;
    try {
      this.#decoder = new TextDecoder(charset, { fatal: true });
    } catch (error) {
      const rule = charset.startsWith('utf-32')
        ? `the text seems to be ${NAMES[charset] ?? charset}; send UTF-8`
        : `the charset ${charset} is unknown; send UTF-8`;
      throw new MillraceError('unknown_format', rule, { cause: error });
    }
  }

  /** @throws `malformed` */
  decode(bytes: Uint8Array, options?: { stream: boolean }): string {
    if (this.#decoder.encoding === 'windows-1252') {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
      return text.replaceAll(/[\x80-\x9f]/g, (char) => WINDOWS_1252.charAt(char.charCodeAt(0) - 0x80));
    }
    try {
      return this.#decoder.decode(bytes, options);
    } catch (error) {
      const name = NAMES[this.#charset] ?? this.#charset;
      const rule =
        this.#charset === 'utf-8'
          ? brokenUtf8Rule(bytes)
          : `must be ${name}, as it begins or its sender declares`;
      throw new MillraceError('malformed', rule, { cause: error });
    }
  }
}

/** Names the encoding that the bytes seem to have. @param bytes are not UTF-8 */
export function brokenUtf8Rule(bytes: Uint8Array): string {
  const seeming = isCut(bytes)
    ? 'ends within a character, or seems to be Windows-1252'
    : 'seems to be Windows-1252 or another code page';
  return `must be UTF-8; the text ${seeming}. Send UTF-8, or declare the charset`;
}

/** UTF-8 but for the last bytes, which begin a character. */
function isCut(bytes: Uint8Array): boolean {
  const tail = [3, 2, 1].find((length) => (bytes[bytes.length - length] ?? 0) >= 0xc2);
  return tail !== undefined && isUtf8(bytes.subarray(0, bytes.length - tail));
}
