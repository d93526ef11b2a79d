import { closeSync, openSync, readSync } from 'node:fs';
import { type FileFormat, PROPOSAL_BYTES, proposeOptions } from '../files.ts';
import type { Proposal } from '../proposal.ts';

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

export function proposalLines({ options, questions }: Proposal, given: Record<string, unknown>): string[] {
  const flags = Object.entries(options)
    .filter(([option]) => given[option] === undefined)
    .map(([option, value]) => flagText(option, value));
  const open = questions.filter(({ option }) => given[option] === undefined);
  return [
    ...(flags.length > 0 ? [`The first lines look like: ${flags.join(' ')}`] : []),
    ...open.map(({ option, text, choices }) => {
      const answers =
        option === 'zone' ? [...choices, Intl.DateTimeFormat().resolvedOptions().timeZone] : choices;
      return `${text} ${[...new Set(answers.length > 0 ? answers : ['…'])].map((answer) => flagText(option, answer)).join(' or ')}`;
    }),
  ];
}

const flagText = (option: string, value: string): string =>
  `--${option.replaceAll('_', '-')} ${/^[\w.,:/+#…-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;

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
