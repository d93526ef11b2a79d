import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readFileSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';

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

/** @param {string} url @returns {Promise<boolean>} whether it is answered with 2xx */
export const answers = (url) =>
  fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );

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

const LOOK_MS = 100;
const READY_MS = 60_000;
const STOP_MS = 20_000;

/**
 * Starts a program of another project. It runs until it is stopped or killed, or the bench ends.
 *
 * @param {object} options
 * @param {string} options.title
 * @param {string} options.command
 * @param {string[]} options.args
 * @param {string} options.log path of the file that gets all of its output
 * @param {(log: string) => Promise<boolean> | boolean} options.isReady asked often; gets what it has written
 * @returns {Promise<Program>}
 * @throws {MillraceError} `failed`: it ended, or was not ready in time
 */
export async function startProgram({ title, command, args, log, isReady }) {
  mkdirSync(dirname(log), { recursive: true });
  const out = openSync(log, 'w');
  // A group of its own: Ctrl-C is for the bench, which ends its programs in order.
  const child = spawn(command, args, { stdio: ['ignore', out, out], detached: true });
  closeSync(out);
  const exited = once(child, 'exit');
  exited.catch(() => {}); // A program that cannot be started is noticed below.
  const end = () => child.kill('SIGKILL');
  process.once('exit', end);
  const isOver = () => child.pid === undefined || child.exitCode !== null || child.signalCode !== null;

  /** @param {NodeJS.Signals} signal */
  async function finish(signal) {
    process.off('exit', end);
    if (isOver()) return;
    child.kill(signal);
    const late = setTimeout(end, STOP_MS);
    await exited;
    clearTimeout(late);
  }

  const deadline = Date.now() + READY_MS;
  for (;;) {
    await sleep(LOOK_MS);
    if (isOver()) throw new MillraceError('failed', `${title} ended at its start. Its log: ${log}`);
    if (await isReady(readFileSync(log, 'utf8'))) break;
    if (Date.now() < deadline) continue;
    await finish('SIGKILL');
    throw new MillraceError('failed', `${title} is not ready after ${READY_MS / 1000} s. Its log: ${log}`);
  }
  return {
    pid: Number(child.pid),
    stop: () => finish('SIGTERM'),
    kill: () => finish('SIGKILL'),
  };
}

/** @typedef {{ pid: number, stop: () => Promise<void>, kill: () => Promise<void> }} Program `stop`: in order; `kill`: with SIGKILL */
