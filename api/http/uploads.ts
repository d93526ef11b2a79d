import { randomUUID } from 'node:crypto';
import { mkdir, open, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from '../../common/errors.js';

/** @import { FileHandle } from 'node:fs/promises' */
/** @import { Request } from 'express' */

/** Uploads are request bodies whose bytes are not read in order. So an upload is stored in a file of `DATA_DIR` while its request runs. */

/** @param {string} dataDir */
const directoryOf = (dataDir) => join(dataDir, 'imports');

/**
 * Removes the upload files that a killed process has left. Uploads of another process with the same directory continue, because
 * that process keeps its files open.
 *
 * @param {string} dataDir
 * @returns {Promise<void>}
 */
export async function clearUploads(dataDir) {
  const directory = directoryOf(dataDir);
  const names = await readdir(directory).catch((error) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  await Promise.all(names.map((name) => rm(join(directory, name), { recursive: true, force: true })));
}

/**
 * Stores the body of a request in a file, and passes the file to `work`.
 *
 * @template T
 * @param {Request} req
 * @param {{ dataDir: string, limit: number }} options `limit`: bytes
 * @param {(file: FileHandle) => Promise<T>} work the file is removed afterwards
 * @returns {Promise<T>}
 * @throws {MillraceError} `too_large`
 */
export async function withUpload(req, { dataDir, limit }, work) {
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

/** @param {number} limit bytes */
const tooLarge = (limit) =>
  new MillraceError(
    'too_large',
    `A Parquet file may have ${limit} bytes over HTTP (IMPORT_MAX_BYTES). Use npm run import, or several files.`,
  );

/**
 * Returns the chunks of a request body. If the caller stops early, the connection stays open, so the client can read the answer.
 *
 * @param {Request} req
 * @returns {AsyncIterable<Buffer>}
 */
export const chunksOf = (req) => req.iterator({ destroyOnReturn: false });
