import { MillraceError } from '../../common/errors.js';
import { parseFlags } from '../../common/flags.js';
import { parseTime } from '../../common/times.js';

/** @import { Flag } from '../../common/flags.js' */

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  ledger: { type: 'text', help: 'file that npm run simulator -- --ledger has written' },
  from: { type: 'text', help: "ISO 8601 or epoch ms; default the ledger's first sample" },
  to: { type: 'text', help: 'the first instant that does not count; default after the last sample' },
};

/**
 * @param {string[]} argv without node and script
 * @returns {{ ledger: string, from?: number, to?: number }} epoch ms
 * @throws {MillraceError} `usage`
 */
export function readFlags(argv) {
  const { ledger, from, to } = parseFlags('npm run compare --', FLAGS, argv);
  const problems = [];
  if (ledger === undefined) problems.push('--ledger is needed');
  const range = { from: readTime(from), to: readTime(to) };
  for (const [name, time] of Object.entries(range)) {
    if (time === null) problems.push(`--${name} is a time such as 2026-11-21T00:00:00Z`);
  }
  if (problems.length > 0) throw new MillraceError('usage', problems.join('\n'));
  return { ledger, from: range.from ?? undefined, to: range.to ?? undefined };
}

/** @param {string | undefined} text @returns {number | null | undefined} null: not understood */
const readTime = (text) => (text === undefined ? undefined : parseTime(text));
