import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { MillraceError } from '../../common/errors.ts';

/**
 * In constant memory. The first row is the header.
 * @returns cells without surrounding spaces; a short row has fewer cells
 * @throws `usage` when the file cannot be read or is no CSV
 */
export async function* readRows(path: string): AsyncGenerator<string[]> {
  const file = createReadStream(path);
  const parser = parse({ bom: true, trim: true, skip_empty_lines: true, relax_column_count: true });
  file.on('error', (error) => parser.destroy(error));
  file.pipe(parser);
  try {
    yield* parser;
  } catch (error) {
    const { message } = error as Error;
    throw new MillraceError('usage', `${path} cannot be replayed: ${message}`, { cause: error });
  } finally {
    file.destroy();
  }
}
