import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writePrograms } from '../processes/programs.ts';

const run = promisify(execFile);

/** Each stand-in records its name and its arguments, as the scripts print a command. */
const NOTE = 'echo "$(basename "$0") $*" >>"$NOTES"\n';

/**
 * Stand-ins for programs, first in PATH: each records its call, and then runs the lines of the test.
 * @param programs the lines of sh of each; `$HERE` is a directory for its files
 */
export function standIns(programs: Record<string, string>) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-stand-ins-'));
  const notes = join(directory, 'notes');
  const recording = Object.entries(programs).map(([name, lines]) => [name, NOTE + lines]);
  writePrograms(directory, Object.fromEntries(recording));
  return {
    /** @param name of a file that a stand-in wrote */
    read: (name: string) => readFileSync(join(directory, name), 'utf8'),
    async run(script: string, args: string[], environment: Record<string, string> = {}) {
      writeFileSync(notes, '');
      const env = {
        PATH: `${directory}:${process.env['PATH']}`,
        NOTES: notes,
        HERE: directory,
        ...environment,
      };
      const outcome = await run(script, args, { env }).then(
        ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
        ({ code, stdout, stderr }) => ({ code, stdout, stderr }),
      );
      return { ...outcome, calls: readFileSync(notes, 'utf8').split('\n').filter(Boolean) };
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** @param text that a script printed @returns its commands, those of a pipe separately */
export const commandsIn = (text: string): string[] =>
  [...text.matchAll(/^\+ (.*)$/gm)].flatMap(([, line]) => String(line).split(' | '));
