import { closeSync, openSync, readSync } from 'node:fs';
import { PROPOSAL_BYTES, proposeOptions } from '../../import/index.js';

/** @import { FileFormat } from '../../import/index.js' */
/** @import { Proposal } from '../../import/proposal.js' */

/** @param {{ path: string, format: FileFormat }} file @returns {Proposal} */
export function proposeFor({ path, format }) {
  const bytes = Buffer.alloc(PROPOSAL_BYTES);
  const file = openSync(path, 'r');
  try {
    const size = readSync(file, bytes, 0, bytes.length, 0);
    return proposeOptions(bytes.subarray(0, size), { format, now: Date.now() });
  } finally {
    closeSync(file);
  }
}

/**
 * @param {Proposal} proposal
 * @param {Record<string, unknown>} given options of the command
 * @returns {string[]} what the first lines of the file show beyond the given options
 */
export function proposalLines({ options, questions }, given) {
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

/** @param {string} option @param {string} value @returns {string} a flag as a shell takes it */
const flagText = (option, value) =>
  `--${option.replaceAll('_', '-')} ${/^[\w.,:/+#…-]+$/.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`}`;

/** @param {string} path of a file, maybe in a data set of `npm run export` @returns {string | null} the site in the names of its directories */
export function siteOfPath(path) {
  const encoded = /(?:^|\/)site=([^/]+)\//.exec(path)?.[1];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return encoded;
  }
}
