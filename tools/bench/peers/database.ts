import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import { type Program, startProgram } from '../process/program.ts';
import type { Kind } from './settings.ts';

export interface PeerDatabase {
  kind: Kind;
  url: string;
  pid: number;
  /** cheap enough for four calls a second */
  counted: () => Promise<number>;
  /** counted by the database itself */
  stored: () => Promise<number>;
  write: (lines: string) => Promise<void>;
  clear: () => Promise<void>;
  /** bytes on disk, once `samples` samples are merged completely */
  bytes: (samples: number) => Promise<number>;
  /** reads the newest sample of each sensor; returns their number */
  latest: (sensors: string[]) => Promise<number>;
  /** mean, minimum and maximum by bins; returns the number of bins */
  series: (month: Month) => Promise<number>;
  /** since `from`; both times in epoch ms */
  samples: (from: number) => Promise<Array<[sensor: string, time: number]>>;
  kill: () => Promise<void>;
  /** starts it again after `kill` */
  start: () => Promise<void>;
  stop: () => Promise<void>;
}

/** epoch ms */
export type Month = { sensor: string; from: number; to: number; bins: number };

export class DatabaseProcess {
  #program: Program | null = null;

  get pid() {
    return Number(this.#program?.pid);
  }

  async run(options: Parameters<typeof startProgram>[0]) {
    this.#program = await startProgram(options);
  }

  async kill() {
    await this.#program?.kill();
  }

  async stop() {
    await this.#program?.stop();
  }
}

/** Reads of several MB take time on a busy machine, but a hung request must end. */
const ANSWER_MS = 60_000;

/** The answer has status 2xx. @throws {MillraceError} `failed`, with the text of the answer */
export async function request(url: string, options?: RequestInit): Promise<Response> {
  const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(ANSWER_MS) });
  if (answer.ok) return answer;
  const text = await answer.text();
  throw new MillraceError('failed', `${url} answers ${answer.status}: ${text.slice(0, 500)}`);
}

/** A merge is over when the bytes on disk have not changed for `STEADY_MS`. */
const STEADY_MS = 10_000;
const MERGED_WITHIN_MS = 180_000;

/** Waits until the bytes on disk no longer change. */
export async function settledBytes(dirs: string[]): Promise<number> {
  const deadline = Date.now() + MERGED_WITHIN_MS;
  let bytes = Number.NaN;
  let since = Date.now();
  while (Date.now() - since < STEADY_MS && Date.now() < deadline) {
    const sizes = await Promise.all(dirs.map(bytesIn));
    const now = sizes.reduce((sum, size) => sum + size, 0);
    if (now !== bytes) since = Date.now();
    bytes = now;
    await sleep(500);
  }
  return bytes;
}

/** Unit of `blocks` in stat(2). */
const BLOCK_BYTES = 512;

/** Counts blocks, because the databases allocate larger files than their data. */
async function bytesIn(dir: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    const path = join(dir, entry.name);
    // A merge may remove a file during this loop.
    if (entry.isDirectory()) bytes += await bytesIn(path);
    else
      bytes += await stat(path).then(
        ({ blocks }) => blocks * BLOCK_BYTES,
        () => 0,
      );
  }
  return bytes;
}
