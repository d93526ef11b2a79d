import { setImmediate } from 'node:timers/promises';
import { TextStream } from '../../../common/encodings.ts';
import { MillraceError } from '../../../common/errors.ts';

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
