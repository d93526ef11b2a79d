import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @import { SentRecord } from './record.js' */

/** The environment variable that names the folder in which processes write down what they send to their database. */
export const RECORDS = 'TEST_CQL_RECORDS';

const RECORDER = `--import=${new URL('recorder.js', import.meta.url)}`;

/**
 * @param {string} folder
 * @returns {Record<string, string>} what a process needs in its environment to be recorded
 */
export const recordingInto = (folder) => ({ [RECORDS]: folder, NODE_OPTIONS: RECORDER });

/** @returns {Record<string, string>} the same for a process that a test starts; nothing where nothing is recorded */
export function recordingToo() {
  const folder = process.env[RECORDS];
  return folder ? recordingInto(folder) : {};
}

/**
 * @param {string} folder
 * @returns {Promise<{ records: SentRecord[], processes: number }>} what all processes wrote, each kind once
 */
export async function readRecords(folder) {
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  // A process that was killed may have written half a line last; nothing of that was sent after it.
  const lines = new Set(texts.flatMap((text) => text.split('\n').slice(0, -1)));
  return { records: [...lines].map((line) => JSON.parse(line)), processes: files.length };
}
