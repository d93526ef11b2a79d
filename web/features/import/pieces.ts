/** Size in bytes of a piece of a file. Files of lines are sent in pieces, because the API must receive a request within 30 s. */
const PIECE_BYTES = 2 * 1024 * 1024;

const NEW_LINE = 10;

/** Media types of files that can be imported, by file name extension. */
const TYPES: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};

/** @returns the media type of a file; null: the file cannot be imported */
export const typeOf = (name: string): string | null =>
  TYPES[name.toLowerCase().split('.').at(-1) ?? ''] ?? null;

/** A part of a file that is sent in one request. */
interface Piece {
  /** the content to send, with the lines before the data */
  body: Blob;
  /** offset of the end of the piece in the file, in bytes */
  end: number;
  /** number of lines in the file before the piece; for CSV, without the lines before the data */
  lines: number;
}

/**
 * Splits a file at line ends. A quoted CSV cell must end in its line, so a piece may end after every line. A Parquet file is
 * one piece, because its footer is at the end of the file.
 */
export async function* piecesOf(
  file: Blob,
  type: string,
  pieceBytes: number = PIECE_BYTES,
  options: Record<string, string> = {},
): AsyncGenerator<Piece> {
  if (type === 'application/vnd.apache.parquet') {
    yield { body: file, end: file.size, lines: 0 };
    return;
  }
  let head: BlobPart[] = [];
  let lines = 0;
  for (let begin = 0; begin < file.size; ) {
    const bytes = await lineAlignedBytes(file, begin, pieceBytes);
    yield { body: new Blob([...head, bytes], { type }), end: begin + bytes.length, lines };
    lines += countLines(bytes);
    if (begin === 0 && type === 'text/csv') {
      const size = headBytes(bytes, options);
      head = [bytes.slice(0, size)];
      lines -= countLines(bytes.slice(0, size));
    }
    begin += bytes.length;
  }
}

/** @returns bytes of the file that end with a whole line */
async function lineAlignedBytes(
  file: Blob,
  begin: number,
  atLeast: number,
): Promise<Uint8Array<ArrayBuffer>> {
  for (let size = atLeast; ; size *= 2) {
    const bytes = new Uint8Array(await file.slice(begin, begin + size).arrayBuffer());
    if (begin + bytes.length >= file.size) return bytes;
    const end = bytes.lastIndexOf(NEW_LINE);
    if (end >= 0) return bytes.slice(0, end + 1);
  }
}

function countLines(bytes: Uint8Array) {
  let lines = 0;
  for (const byte of bytes) if (byte === NEW_LINE) lines++;
  return lines;
}

/** @returns length of the lines before the data: those before the names, the names, and maybe units */
function headBytes(
  bytes: Uint8Array,
  { header_line: wanted, units, comment }: Record<string, string>,
): number {
  if (wanted === '0') return 0;
  const left = { names: wanted === undefined ? 0 : Number(wanted), units: units === 'row' ? 1 : 0 };
  let begin = 0;
  for (let line = 1; begin < bytes.length; line++) {
    const end = bytes.indexOf(NEW_LINE, begin) + 1 || bytes.length;
    const text = new TextDecoder().decode(bytes.slice(begin, Math.min(end, begin + 1000))).trim();
    begin = end;
    const isSkipped =
      text === '' ||
      /^#(?![,;\t|"]|$)|^"?sep=."?$/i.test(text) ||
      (comment !== undefined && text.startsWith(comment));
    if (left.names === 0 ? isSkipped : line < left.names || text === '') continue;
    if (left.names !== -1 && left.units === 0) return end;
    if (left.names === -1) return end;
    left.names = -1;
  }
  return bytes.length;
}

/** @returns the file in UTF-8. The API cannot find the encoding of a piece in UTF-16, and line ends are found in UTF-8 only */
export async function inUtf8(file: Blob, type: string, encoding?: string): Promise<Blob> {
  if (type === 'application/vnd.apache.parquet') return file;
  const [first, second] = new Uint8Array(await file.slice(0, 2).arrayBuffer());
  const shown =
    (first === 0xff && second === 0xfe) || second === 0
      ? 'utf-16le'
      : (first === 0xfe && second === 0xff) || first === 0
        ? 'utf-16be'
        : undefined;
  const charset = shown ?? encoding ?? 'utf-8';
  if (charset === 'utf-8') return file;
  const text = file
    .stream()
    .pipeThrough(new TextDecoderStream(charset, { fatal: true }) as ReadableWritablePair<string, Uint8Array>)
    .pipeThrough(new TextEncoderStream());
  return new Response(text).blob();
}
