import { setImmediate } from 'node:timers/promises';
import { TextStream } from '../../../common/encodings.ts';
import { MillraceError } from '../../../common/errors.ts';

/** By the first bytes in hexadecimal digits. */
const NO_TEXTS: Array<[bytes: string, rule: string]> = [
  ['1f8b', 'is compressed with gzip. Unpack it first'],
  ['28b52ffd', 'is compressed with zstd. Unpack it first'],
  ['504b0304', 'is a ZIP archive or a spreadsheet such as .xlsx. Unpack it, or save the sheet as CSV'],
  ['d0cf11e0', 'is an old spreadsheet (.xls). Save the sheet as CSV'],
  ['50415231', 'is a Parquet file. Import it as Parquet'],
];

/** In characters. */
const MAX_LINE = 1024 * 1024;

/** Lines in a turn of the event loop. A chunk of 64 KiB may be 65,536 empty lines, which take 70 ms. */
const LINES_A_TURN = 8192;

/**
 * A line ends with a line feed; a carriage return before it stays. `encoding` (default UTF-8) is for texts that do not show theirs. Throws
 * `bad_file`.
 */
export async function* linesOf(
  source: AsyncIterable<Buffer>,
  encoding?: string,
): AsyncGenerator<string, void> {
  const text = new TextStream(encoding);
  let line = 1;
  let rest = '';
  let isFirst = true;
  const decoded = (read: () => string) => {
    try {
      return read();
    } catch (error) {
      const { message } = error as Error;
      const remedy = message.replace(/declare the charset.*/, 'add `encoding=windows-1252`');
      throw new MillraceError('bad_file', `From line ${line} on: ${remedy}`, { cause: error });
    }
  };
  for await (const chunk of source) {
    if (isFirst) refuseNoText(chunk);
    isFirst = false;
    const lines = (rest + decoded(() => text.write(chunk))).split('\n');
    rest = lines.pop() ?? '';
    line += lines.length;
    for (let first = 0; first < lines.length; first += LINES_A_TURN) {
      if (first > 0) await setImmediate();
      yield* lines.slice(first, first + LINES_A_TURN);
    }
    if (rest.length > MAX_LINE)
      throw new MillraceError('bad_file', `A line has more than ${MAX_LINE} characters.`);
  }
  rest += decoded(() => text.end());
  if (rest !== '') yield rest;
}

function refuseNoText(chunk: Buffer) {
  const begin = chunk.subarray(0, 4).toString('hex');
  const rule = NO_TEXTS.find(([bytes]) => begin.startsWith(bytes))?.[1];
  if (rule !== undefined) throw new MillraceError('bad_file', `The file ${rule}.`);
}
