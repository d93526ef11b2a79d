import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { SETTINGS_GROUPS } from '../../api/features/index.ts';
import { ERRORS } from '../../common/errors.ts';
import { settingsTables } from '../../common/settings/documents.ts';

/** @import { ErrorEntry } from '../../common/errors.ts' */

const ROOT = new URL('../../', import.meta.url);
const MIGRATIONS = new URL('schema/migrations/', ROOT);

/** Parts of pages that the manual takes from the code, by the name that `<!--@include: -->` has. @type {Record<string, () => string>} */
export const GENERATED = {
  settings: () => settingsTables(SETTINGS_GROUPS),
  tables: migrations,
  refusals: () => errors('refusal'),
  problems: () => errors('problem'),
  stops: () => errors('stop'),
};

/** Writes the parts to where the pages include them. */
export function writeGenerated() {
  const folder = fileURLToPath(new URL('.data/manual/', ROOT));
  mkdirSync(folder, { recursive: true });
  for (const [name, contentOf] of Object.entries(GENERATED))
    writeFileSync(`${folder}${name}.md`, contentOf());
}

/** @returns {string} all migrations in their order */
function migrations() {
  return readdirSync(MIGRATIONS)
    .sort()
    .map((name) => {
      const title = name.replace(/^0*(\d+)-(.*)\.cql$/, (_, number, subject) => `${number}. ${subject}`);
      const statements = readFileSync(new URL(name, MIGRATIONS), 'utf8').trim();
      return `## ${title.replaceAll('-', ' ')}\n\n\`\`\`sql\n${statements}\n\`\`\`\n`;
    })
    .join('\n');
}

/** @param {ErrorEntry['kind']} kind @returns {string} */
function errors(kind) {
  /** @type {Array<[code: string, ErrorEntry]>} */
  const all = Object.entries(ERRORS);
  const rows = all
    .filter(([, entry]) => entry.kind === kind)
    .map(([code, { status, exit, title }]) => `| \`${code}\` | ${status ?? exit} | ${title} |\n`);
  return `| code | ${kind === 'stop' ? 'exit code' : 'status'} | title |\n| --- | --- | --- |\n${rows.join('')}`;
}
