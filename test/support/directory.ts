import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from '@jest/globals';

/** Creates a directory for the tests of a file, and removes it after them. @returns its path */
export function useDirectory(name: string): string {
  const directory = mkdtempSync(join(tmpdir(), `millrace-${name}-`));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}
