import { mkdirSync, openSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MillraceError } from '../../../common/errors.js';
import { freeBytes } from '../disk.js';

const TAIL_BYTES = 64 * 1024;
const NO_SPACE = /No space left on device|Disk quota exceeded|Insufficient disk space/i;
/** Two segments of the commit log: with less room than that, Cassandra cannot write. */
const FULL_BYTES = 64 * 1024 ** 2;
/** Messages of Java and the system. The system kills a process that is too large, and the process itself logs nothing. */
const OUT_OF_MEMORY = /OutOfMemoryError:|Cannot allocate memory|insufficient memory|ended by SIGKILL/i;
/** The last line that the supervisor writes into the log of a server that ended by itself. */
export const ENDED = 'ERROR The server';

/**
 * Starts a log file. The last one is kept as `.old`.
 *
 * @param {string} path
 * @returns {number} file descriptor, to be closed by the caller
 */
export function beginLog(path) {
  mkdirSync(dirname(path), { recursive: true });
  try {
    renameSync(path, `${path}.old`);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ENOENT') throw error;
  }
  return openSync(path, 'a');
}

/** @param {string} path @returns {Promise<string>} its last 64 KiB */
async function tail(path) {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, TAIL_BYTES);
    const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: size - length });
    return buffer.toString();
  } finally {
    await file.close();
  }
}

/**
 * Why a server ended, from the end of its log.
 *
 * @param {string} path its log
 * @param {{ ready: boolean, dataDir: string, title?: string, memory?: string }} state whether it had answered before, where its data is, what it is and what it needs
 * @returns {Promise<MillraceError>} `disk_full` or `engine_failed`
 */
export async function explainEnd(path, { ready, dataDir, title = 'Cassandra', memory = '1.5 GB' }) {
  const text = await tail(path);
  // On a full disk the log may lack the line about it.
  if (NO_SPACE.test(text) || (await freeBytes(dataDir)) < FULL_BYTES) {
    return new MillraceError(
      'disk_full',
      `The local ${title} ended because the disk of ${dataDir} is full. Make room, or set DATA_DIR to a larger disk. Its log: ${path}`,
    );
  }
  const happened = ready ? `The local ${title} died.` : `The local ${title} did not start.`;
  const hint = OUT_OF_MEMORY.test(text) ? ` It seems that memory ran short; it needs ${memory}.` : '';
  return new MillraceError(
    'engine_failed',
    `${happened}${hint} Its log, ${path}, ends with:\n${lastWords(text)}`,
  );
}

/** @param {string} text a log @returns {string} its errors where there are any, else its end; stack frames left out */
function lastWords(text) {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s+at |^\s+\.\.\. \d+/.test(line));
  const ends = lines.filter((line) => line.startsWith(ENDED)).slice(-1);
  // The last line only has how the server ended. A cause that the server has logged stands before it.
  const others = lines.filter((line) => !line.startsWith(ENDED));
  const first = others.findLastIndex((line) => /^(ERROR|FATAL)|^Exception|^Error/.test(line));
  const shown = [...(first === -1 ? others.slice(-5) : others.slice(first, first + 5)), ...ends];
  return shown.map((line) => `  ${line.slice(0, 300)}`).join('\n');
}
