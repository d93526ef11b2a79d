import { parseFlags, usageError } from '../../common/flags.js';
import { parseTime } from '../../common/times.js';

/** @import { CommandLine, Flag } from '../../common/flags.js' */

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  ledger: { type: 'text', help: 'file that npm run simulator -- --ledger has written' },
  from: { type: 'text', help: "ISO 8601 or epoch ms; default the ledger's first sample" },
  to: { type: 'text', help: 'the first instant that does not count; default after the last sample' },
};

const COMMAND = 'npm run compare --';

/** @type {CommandLine<typeof FLAGS>} */
const LINE = {
  command: COMMAND,
  help: "Compares a simulator's ledger with the database, sample by sample and in both directions.",
  examples: [
    `${COMMAND} --ledger fleet.ledger`,
    `${COMMAND} --ledger fleet.ledger --from 2026-11-21T00:00:00Z`,
  ],
  flags: FLAGS,
};

/**
 * @param {string[]} argv without node and script
 * @returns {{ ledger: string, from?: number, to?: number }} epoch ms
 * @throws {MillraceError} `usage`
 */
export function readFlags(argv) {
  const { ledger, from, to } = parseFlags(LINE, argv);
  const problems = [];
  if (ledger === undefined) problems.push('--ledger is needed');
  const range = { from: readTime(from), to: readTime(to) };
  for (const [name, time] of Object.entries(range)) {
    if (time === null) problems.push(`--${name} is a time such as 2026-11-21T00:00:00Z`);
  }
  if (problems.length > 0) throw usageError(COMMAND, problems);
  return { ledger: String(ledger), from: range.from ?? undefined, to: range.to ?? undefined };
}

/** @param {string | undefined} text @returns {number | null | undefined} null: not understood */
const readTime = (text) => (text === undefined ? undefined : parseTime(text));
