import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes fake programs for the PATH of a test.
 *
 * @param {string} directory
 * @param {Record<string, string>} programs lines of sh, by name of the program
 */
export function writePrograms(directory, programs) {
  for (const [name, lines] of Object.entries(programs))
    writeFileSync(join(directory, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
}
