import { randomUUID } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Request } from 'express';
import { MillraceError } from '../../../common/errors.ts';

/** Uploads are request bodies whose bytes are not read in order. So an upload is stored in a file of `DATA_DIR` while its request runs. */

const directoryOf = (dataDir: string) => join(dataDir, 'imports');

/**
 * A killed process has left these files. Uploads of another process with the same directory continue, because that process keeps its files
 * open.
 */
export async function clearUploads(dataDir: string): Promise<void> {
  const directory = directoryOf(dataDir);
  const names = await readdir(directory).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

/** `limit`: bytes. The file is removed after `work`. @throws `too_large` */
export async function withUpload<T>(
  req: Request,
  { dataDir, limit }: { dataDir: string; limit: number },
  work: (file: FileHandle) => Promise<T>,
): Promise<T> {
  if (Number(req.headers['content-length']) > limit) throw tooLarge(limit);
  const directory = directoryOf(dataDir);
  await mkdir(directory, { recursive: true });
  const path = join(directory, randomUUID());
  const file = await open(path, 'wx+');
  try {
    let bytes = 0;
    for await (const chunk of chunksOf(req)) {
      bytes += chunk.length;
      if (bytes > limit) throw tooLarge(limit);
      await file.writeFile(chunk);
    }
    return await work(file);
  } finally {
    await file.close();
    await rm(path, { force: true });
  }
}

const tooLarge = (limit: number) =>
  new MillraceError(
    'too_large',
    `A Parquet file may have ${limit} bytes over HTTP (IMPORT_MAX_BYTES). Use npm run import, or several files.`,
  );

/** If the caller stops early, the connection stays open, so the client can read the answer. */
export const chunksOf = (req: Request): AsyncIterable<Buffer> => req.iterator({ destroyOnReturn: false });
