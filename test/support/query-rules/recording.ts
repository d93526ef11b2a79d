import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { SentRecord } from './record.ts';

export const RECORDS = 'TEST_CQL_RECORDS';

const RECORDER = `--import=${new URL('recorder.ts', import.meta.url)}`;

/** @returns variables that a process needs to be recorded */
export const recordingInto = (folder: string): Record<string, string> => ({
  [RECORDS]: folder,
  NODE_OPTIONS: RECORDER,
});

/** @returns the same variables for a process that a test starts; empty if this run is not recorded */
export function recordingToo(): Record<string, string> {
  const folder = process.env[RECORDS];
  return folder ? recordingInto(folder) : {};
}

export async function readRecords(folder: string): Promise<{ records: SentRecord[]; processes: number }> {
  const files = await readdir(folder);
  const texts = await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8')));
  // The last line of a killed process may be incomplete. It is ignored.
  const lines = new Set(texts.flatMap((text) => text.split('\n').slice(0, -1)));
  return { records: [...lines].map((line) => JSON.parse(line)), processes: files.length };
}
