import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

/** For the tests of a file. @returns path */
export function useDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `millrace-${name}-`));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
