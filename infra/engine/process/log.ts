import { mkdirSync, openSync, renameSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { MillraceError } from '../../../common/errors.ts';
import { freeBytes } from '../disk.ts';

const TAIL_BYTES = 64 * 1024;
const NO_SPACE = /No space left on device|Disk quota exceeded|Insufficient disk space/i;
/** Free disk space below which the disk counts as full, in bytes: Cassandra cannot write without two segments of the commit log. */
const FULL_BYTES = 64 * 1024 ** 2;
/** Log messages about missing memory. A process that the system kills for its size logs nothing, so the supervisor's line counts, too. */
const OUT_OF_MEMORY = /OutOfMemoryError:|Cannot allocate memory|insufficient memory|ended by SIGKILL/i;
/** The beginning of the last line that the supervisor writes into the log of a server that ended by itself. */
export const ENDED = 'ERROR The server';

/** Renames the previous log file to `.old`. @returns file descriptor, to be closed by the caller */
export function beginLog(path: string): number {
  mkdirSync(dirname(path), { recursive: true });
  try {
    renameSync(path, `${path}.old`);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
  return openSync(path, 'a');
}

async function tail(path: string): Promise<string> {
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

/** @param state `ready`: the server had answered before; `memory`: what the server needs @returns `disk_full` or `engine_failed` */
export async function explainEnd(
  path: string,
  {
    ready,
    dataDir,
    title = 'Cassandra',
    memory = '1.5 GB',
  }: { ready: boolean; dataDir: string; title?: string; memory?: string },
): Promise<MillraceError> {
  const text = await tail(path);
  // On a full disk, the log may lack the line about the full disk.
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

function lastWords(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !/^\s+at |^\s+\.\.\. \d+/.test(line));
  const ends = lines.filter((line) => line.startsWith(ENDED)).slice(-1);
  // The last line, by the supervisor, only describes how the server ended. The server may have logged the cause before.
  const others = lines.filter((line) => !line.startsWith(ENDED));
  const first = others.findLastIndex((line) => /^(ERROR|FATAL)|^Exception|^Error/.test(line));
  const shown = [...(first === -1 ? others.slice(-5) : others.slice(first, first + 5)), ...ends];
  return shown.map((line) => `  ${line.slice(0, 300)}`).join('\n');
}
