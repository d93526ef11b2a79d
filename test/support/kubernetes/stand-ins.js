import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { writePrograms } from '../programs.js';

const run = promisify(execFile);

/** What each stand-in notes: its name and its arguments, as the scripts print a command. */
const NOTE = 'echo "$(basename "$0") $*" >>"$NOTES"\n';

/**
 * Programs that come before the machine's, in the place of a cluster: each notes how it was called, and then does what the test says.
 *
 * @param {Record<string, string>} programs what each does then, as lines of sh; `$HERE` is the directory of what it may keep
 */
export function standIns(programs) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-stand-ins-'));
  const notes = join(directory, 'notes');
  const noting = Object.entries(programs).map(([name, lines]) => [name, NOTE + lines]);
  writePrograms(directory, Object.fromEntries(noting));
  return {
    /** @param {string} name of what a stand-in has kept */
    kept: (name) => readFileSync(join(directory, name), 'utf8'),
    /** @param {string} script @param {string[]} args @param {Record<string, string>} [environment] */
    async run(script, args, environment = {}) {
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
      return { ...outcome, asked: readFileSync(notes, 'utf8').split('\n').filter(Boolean) };
    },
    remove: () => rmSync(directory, { recursive: true, force: true }),
  };
}

/** @param {string} text that a script printed @returns {string[]} the commands in it, those of a pipe one by one */
export const commandsIn = (text) =>
  [...text.matchAll(/^\+ (.*)$/gm)].flatMap(([, line]) => String(line).split(' | '));
