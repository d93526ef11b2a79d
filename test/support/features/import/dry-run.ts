import { importStream } from '../../../../api/features/import/files.ts';
import type {
  MergedLine,
  Progress,
  RefusedLine,
  StoredRow,
} from '../../../../api/features/import/importer.ts';
import { parseFileOptions } from '../../../../api/features/import/options.ts';

/** Imports a file as a dry run, without a database. Any device and sensor may be registered, and any time is accepted. */
export async function dryRun(
  content: Buffer | string | AsyncIterable<Buffer>,
  {
    format = 'csv',
    device,
    times,
    ...options
  }: {
    format?: 'csv' | 'ndjson';
    device?: string;
    times?: { oldest: number; newest: number };
  } & Record<string, unknown> = {},
): Promise<{ first: StoredRow[]; refused: RefusedLine[]; progress: Progress; mergedLines: MergedLine[] }> {
  const look = async (_: unknown, refs: string[]) => ({
    device: null,
    known: new Map(refs.map((ref) => [ref, null])),
    refused: new Map(),
  });
  const ingest = {
    pastSamples: { look },
    acceptedTimes: async () => times ?? { oldest: 0, newest: Number.MAX_SAFE_INTEGER },
  } as never;
  const source =
    typeof content === 'string' || Buffer.isBuffer(content) ? piecesOf(Buffer.from(content)) : content;
  const refused: RefusedLine[] = [];
  const imported = await importStream(
    ingest,
    { source, format },
    {
      ...parseFileOptions(options as Record<string, string>),
      device,
      skip: 0,
      dryRun: true,
      onRefused: (line) => refused.push(line),
      onProgress: () => {},
      signal: new AbortController().signal,
    },
  );
  return { ...imported, refused };
}

/** @returns pieces that end within lines and characters */
async function* piecesOf(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let from = 0; from < bytes.length; from += 777) yield bytes.subarray(from, from + 777);
}
