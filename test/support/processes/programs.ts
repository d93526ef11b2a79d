import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes fake programs for the PATH of a test. @param programs lines of sh, by name of the program */
export function writePrograms(directory: string, programs: Record<string, string>) {
  for (const [name, lines] of Object.entries(programs))
    writeFileSync(join(directory, name), `#!/bin/sh\n${lines}\n`, { mode: 0o755 });
}
