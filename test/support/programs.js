import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Programs for a test's own PATH, in the place of those that are not here.
 *
 * @param {string} directory
 * @param {Record<string, string>} programs lines of sh by the program's name
 */
export function writePrograms(directory, programs) {
  for (const [name, lines] of Object.entries(programs))
    writeFileSync(join(directory, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
}
