/** A request of the API must arrive within 30 s, so a file of lines is sent in pieces of this size, in bytes. */
const PIECE_BYTES = 2 * 1024 * 1024;

const NEW_LINE = 10;

/** Media types by the end of a file's name. */
const TYPES: Record<string, string> = {
  csv: 'text/csv',
  tsv: 'text/csv',
  ndjson: 'application/x-ndjson',
  jsonl: 'application/x-ndjson',
  parquet: 'application/vnd.apache.parquet',
};

/** @returns the media type of a file; null: it cannot be imported */
export const typeOf = (name: string): string | null =>
  TYPES[name.toLowerCase().split('.').at(-1) ?? ''] ?? null;

/** A part of a file. */
interface Piece {
  /** with the line of column names, if the file has one */
  body: Blob;
  /** bytes of the file up to here */
  end: number;
  /** of the file before the first line of `body`; for CSV without the line of column names */
  lines: number;
}

/**
 * Cuts a file behind its lines. A quoted cell of CSV ends in its line, so every line can be the last one. A Parquet file is one piece, because its
 * footer is at its end.
 */
export async function* piecesOf(
  file: Blob,
  type: string,
  pieceBytes: number = PIECE_BYTES,
): AsyncGenerator<Piece> {
  if (type === 'application/vnd.apache.parquet') {
    yield { body: file, end: file.size, lines: 0 };
    return;
  }
  const hasHead = type === 'text/csv';
  let head: BlobPart[] = [];
  let lines = 0;
  for (let begin = 0; begin < file.size; ) {
    const bytes = await lineAlignedBytes(file, begin, pieceBytes);
    yield { body: new Blob([...head, bytes], { type }), end: begin + bytes.length, lines };
    lines += countLines(bytes);
    if (begin === 0 && hasHead) {
      head = [bytes.slice(0, bytes.indexOf(NEW_LINE) + 1)];
      lines -= 1;
    }
    begin += bytes.length;
  }
}

/** @returns whole lines */
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
