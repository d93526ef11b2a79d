import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** @import { SentRecord } from './record.js' */

/** The environment variable with the folder for the records of all processes. */
export const RECORDS = 'TEST_CQL_RECORDS';

const RECORDER = `--import=${new URL('recorder.js', import.meta.url)}`;

/** @param {string} folder @returns {Record<string, string>} variables that a process needs to be recorded */
export const recordingInto = (folder) => ({ [RECORDS]: folder, NODE_OPTIONS: RECORDER });

/** @returns {Record<string, string>} the same variables for a process that a test starts; empty if this run is not recorded */
export function recordingToo() {
  const folder = process.env[RECORDS];
  return folder ? recordingInto(folder) : {};
}

/**
 * @param {string} folder
 * @returns {Promise<{ records: SentRecord[], processes: number }>} the records of all processes, each kind once
 */
export async function readRecords(folder) {
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  // The last line of a killed process may be incomplete. It is ignored.
  const lines = new Set(texts.flatMap((text) => text.split('\n').slice(0, -1)));
  return { records: [...lines].map((line) => JSON.parse(line)), processes: files.length };
}
