import { closeSync, openSync, readSync } from 'node:fs';
import { parse } from 'node:path';
import { printable } from '../../../../common/printable.ts';
import { type FileFormat, PROPOSAL_BYTES, proposeOptions } from '../files.ts';
import type { Proposal } from '../proposal.ts';
import { flagText, shellQuoted } from './flag-text.ts';

export function proposeFor({ path, format }: { path: string; format: FileFormat }): Proposal {
  const bytes = Buffer.alloc(PROPOSAL_BYTES);
  const file = openSync(path, 'r');
  try {
    const size = readSync(file, bytes, 0, bytes.length, 0);
    return proposeOptions(bytes.subarray(0, size), { format, now: Date.now() });
  } finally {
    closeSync(file);
  }
}

/** For a machine whose clock shows UTC. */
const EXAMPLE_ZONE = 'Europe/Berlin';

/**
 * What the first lines do not show, with answers, and a command that tries the proposal with the first of the answers.
 * @param given flags of the command line, by option
 */
export function proposalLines(
  { options, questions }: Proposal,
  { path, given, zone }: { path: string; given: Record<string, unknown>; zone: string },
): string[] {
  const isOpen = (option: string) => given[option] === undefined;
  const asked = questions
    .filter(({ option }) => isOpen(option))
    .map((question) => ({ ...question, answers: answersOf(question, { path, zone }) }));
  if (asked.length === 0 && !Object.keys(options).some(isOpen)) return [];
  const lines = asked.map(({ option, text, answers }) =>
    [text, answers.map((answer) => flagText(option, answer)).join(' or ') || flagText(option)].join(' '),
  );
  const values = new Map(Object.entries(given).filter(([, value]) => value !== undefined));
  for (const [option, value] of Object.entries(options)) if (isOpen(option)) values.set(option, value);
  for (const { option, answers } of asked) if (!values.has(option)) values.set(option, answers[0]);
  const file = path.startsWith('-') ? `./${path}` : path;
  const flags = [...values].map(([option, value]) => flagText(option, String(value)));
  const command = ['npm run import --', shellQuoted(file), ...flags, '--dry-run'].join(' ');
  // No command runs without an answer, or with characters that a terminal must not get.
  if (![...values.values()].includes(undefined) && command === printable(command))
    lines.push(asked.length > 0 ? 'Try it, with your answers:' : 'Try what the first lines show:', command);
  return lines.map(printable);
}

/** The most likely answer is the first. */
function answersOf(
  { option, choices }: Proposal['questions'][number],
  { path, zone }: { path: string; zone: string },
): string[] {
  if (option === 'device') return [parse(path).name];
  if (option !== 'zone') return choices;
  return [/^(?:UTC|GMT|Etc\/)/.test(zone) ? EXAMPLE_ZONE : zone, ...choices];
}

/** The path may be in a data set of `npm run export`, which has the site in the names of its directories. */
export function siteOfPath(path: string): string | null {
  const encoded = /(?:^|\/)site=([^/]+)\//.exec(path)?.[1];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
