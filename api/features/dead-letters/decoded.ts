import { isUtf8 } from 'node:buffer';
import { charsetOf, decodeText } from '../../../common/encodings.ts';
import { messageOf } from '../../../common/errors.ts';
import { parseSenmlCbor } from '../../ingest/decode/index.ts';
import type { StoredContent } from '../../store/dead-letters.ts';

/** A value as text in the notation of JSON. `marks`: half-open ranges of its characters that were refused, in order */
export interface DecodedElement {
  text: string;
  marks: Range[];
}

type Range = [begin: number, end: number];

/** A payload for people. `elements` have the indexes of refusals; null: `problem` is the reason */
export interface Decoded {
  format: 'JSON' | 'CBOR' | null;
  /** null: the payload is no text */
  text: string | null;
  elements: DecodedElement[] | null;
  problem: string | null;
}

type Payload = Pick<StoredContent, 'payload' | 'contentType' | 'refused'>;

export function decodePayload({ payload, contentType, refused }: Payload): Decoded {
  const text = textOf(payload, contentType);
  const format = text === null || contentType?.includes('cbor') ? 'CBOR' : 'JSON';
  const paths = refused.flatMap(({ path }) => path || []);
  const base = paths.some((path) => path.startsWith('sensors[')) ? 'sensors' : '';
  try {
    const message = format === 'CBOR' ? parseSenmlCbor(payload) : JSON.parse(String(text), exactly);
    const inBase = base === '' ? message : (message?.[base] ?? message);
    const isList = Array.isArray(inBase);
    const elements = (isList ? inBase : [inBase]).map((element: unknown, index: number) =>
      layOut(element, isList ? `${base}[${index}]` : '', paths),
    );
    return { format, text, elements, problem: null };
  } catch (error) {
    const reason = error instanceof RangeError ? 'it is nested too deep' : messageOf(error);
    // Bytes that are no UTF-8 and no JSON are hardly a text, although UTF-16 has a character for nearly each two bytes.
    const shown = isUtf8(payload) ? text : null;
    const fault = shown === null ? 'It is no text, and no CBOR' : `It is no ${format}`;
    const isKnown = refused.some(({ rule }) => rule === reason);
    const problem = isKnown ? `${fault}.` : `${fault}: ${reason}`;
    return { format: null, text: shown, elements: null, problem };
  }
}

function textOf(payload: Buffer, contentType: string | undefined): string | null {
  try {
    return decodeText(payload, charsetOf(contentType));
  } catch {
    return null;
  }
}

/** A number as it was sent, such as `1.0` or one with more digits than a double holds. */
class SentNumber {
  readonly source: string;

  constructor(source: string) {
    this.source = source;
  }
}

/** For `JSON.parse`: keeps numbers that a double would change. */
const exactly = (_key: string, value: unknown, context?: { source?: string }) =>
  typeof value === 'number' && context?.source !== undefined && context.source !== String(value)
    ? new SentNumber(context.source)
    : value;

/** An element with a longer text has a line for each member. */
const LINE = 100;

/** In a deeper element each line would be as long as the element is deep. */
const MAX_LEVELS = 64;

/** @param path of the element in the message @param paths of all refused values */
function layOut(element: unknown, path: string, paths: string[]): DecodedElement {
  const line = new Writer(false).write(element, path);
  const { text, ranges } = line.text.length > LINE ? new Writer(true).write(element, path) : line;
  const found = paths.flatMap((refused) => {
    const nearest = withParents(refused).find((each) => each !== path && ranges.has(each));
    return nearest === undefined ? [] : [ranges.get(nearest) as Range];
  });
  const marks: Range[] = [];
  for (const range of found.sort(([a, aEnd], [b, bEnd]) => a - b || bEnd - aEnd)) {
    if (range[0] >= (marks.at(-1)?.[1] ?? 0)) marks.push(range);
  }
  return { text, marks };
}

/** @returns the path and its enclosing paths: `[2].value`, `[2]` */
function withParents(path: string): string[] {
  const ends = Array.from(path.matchAll(/\[\d+\]|[^.[]+/g), ({ 0: part, index }) => index + part.length);
  return ends.map((end) => path.slice(0, end)).reverse();
}

/** Writes a value, and notes the range of each value within it by its path. */
class Writer {
  text = '';
  readonly ranges: Map<string, Range> = new Map();
  readonly #isTall: boolean;

  constructor(isTall: boolean) {
    this.#isTall = isTall;
  }

  /** @throws {RangeError} if the value is nested too deep */
  write(value: unknown, path: string, level = 0): this {
    if (level > MAX_LEVELS) throw new RangeError('nested too deep');
    const begin = this.text.length;
    if (Array.isArray(value)) {
      this.#list('[]', value, level, (each, index) => this.write(each, `${path}[${index}]`, level + 1));
    } else if (isMembers(value)) {
      const members = value instanceof Map ? [...value] : Object.entries(value);
      this.#list('{}', members, level, ([key, each]) => {
        this.text += `${JSON.stringify(String(key))}: `;
        this.write(each, path === '' ? String(key) : `${path}.${key}`, level + 1);
      });
    } else this.text += scalarText(value);
    this.ranges.set(path, [begin, this.text.length]);
    return this;
  }

  #list<T>(brackets: string, items: T[], level: number, write: (item: T, index: number) => void) {
    const isTall = this.#isTall && items.length > 0;
    this.text += brackets[0];
    for (const [index, item] of items.entries()) {
      if (index > 0) this.text += isTall ? ',' : ', ';
      if (isTall) this.text += `\n${'  '.repeat(level + 1)}`;
      write(item, index);
    }
    if (isTall) this.text += `\n${'  '.repeat(level)}`;
    this.text += brackets[1];
  }
}

const isMembers = (value: unknown): value is object =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof SentNumber) &&
  !(value instanceof Uint8Array);

function scalarText(value: unknown): string {
  if (value instanceof SentNumber) return value.source;
  if (value instanceof Uint8Array) return `h'${Buffer.from(value).toString('hex')}'`;
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
