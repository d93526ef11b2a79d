import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { startProgram } from '../process/program.js';

/** @import { Program } from '../process/program.js' */
/** @import { Kind } from './settings.js' */

/**
 * A database of a peer, as the comparison uses it.
 *
 * @typedef {object} PeerDatabase
 * @property {Kind} kind
 * @property {string} url
 * @property {number} pid
 * @property {() => Promise<number>} counted samples so far, cheap enough to be asked four times a second
 * @property {() => Promise<number>} stored samples, counted by the database itself
 * @property {(lines: string) => Promise<void>} write line protocol, precision ms
 * @property {() => Promise<void>} clear forgets all samples
 * @property {(samples: number) => Promise<number>} bytes on disk once so many samples are merged as far as they will ever be
 * @property {(sensors: string[]) => Promise<number>} latest reads the newest sample of each; returns how many there were
 * @property {(month: Month) => Promise<number>} series reads mean, least and most by bins; returns how many there were
 * @property {(from: number) => Promise<Array<[sensor: string, time: number]>>} samples since then, epoch ms
 * @property {() => Promise<void>} kill with SIGKILL
 * @property {() => Promise<void>} start again, after `kill`
 * @property {() => Promise<void>} stop
 */

/** @typedef {{ sensor: string, from: number, to: number, bins: number }} Month epoch ms */

/** The process of a database. */
export class DatabaseProcess {
  /** @type {Program | null} */
  #program = null;

  get pid() {
    return Number(this.#program?.pid);
  }

  /** @param {Parameters<typeof startProgram>[0]} options */
  async run(options) {
    this.#program = await startProgram(options);
  }

  async kill() {
    await this.#program?.kill();
  }

  async stop() {
    await this.#program?.stop();
  }
}

/** Reads of several MB need time on a busy machine; a hung one must end. */
const ANSWER_MS = 60_000;

/**
 * @param {string} url
 * @param {RequestInit} [options]
 * @returns {Promise<Response>} of status 2xx
 * @throws {MillraceError} `failed`, with what was answered
 */
export async function request(url, options) {
  const answer = await fetch(url, { ...options, signal: AbortSignal.timeout(ANSWER_MS) });
  if (answer.ok) return answer;
  const text = await answer.text();
  throw new MillraceError('failed', `${url} answers ${answer.status}: ${text.slice(0, 500)}`);
}

/** A merge is over after this time without a change on the disk, in ms. */
const STEADY_MS = 10_000;
const MERGED_WITHIN_MS = 180_000;

/**
 * @param {string[]} dirs
 * @returns {Promise<number>} bytes that they take, once they take the same for a while
 */
export async function settledBytes(dirs) {
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

/** @param {string} dir @returns {Promise<number>} bytes that its files take: blocks, since files are made larger than what they hold */
async function bytesIn(dir) {
  let bytes = 0;
  for (const entry of await readdir(dir, { withFileTypes: true }).catch(() => [])) {
    const path = join(dir, entry.name);
    // A file may go while we look: it was merged.
    if (entry.isDirectory()) bytes += await bytesIn(path);
    else
      bytes += await stat(path).then(
        ({ blocks }) => blocks * BLOCK_BYTES,
        () => 0,
      );
  }
  return bytes;
}
