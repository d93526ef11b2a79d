import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The folders of pages, in the order in which a newcomer needs them. */
const FOLDERS = [
  { folder: 'tutorial', text: 'Tutorial' },
  { folder: 'how-to', text: 'How-to' },
  { folder: 'reference', text: 'Reference' },
  { folder: 'explanation', text: 'Explanation' },
  { folder: 'decisions', text: 'Decisions' },
];

/**
 * Lists the pages of each folder in the order of the index, so a new page needs no second entry.
 *
 * @param {string} docsDir
 */
export function sidebar(docsDir) {
  const index = readFileSync(join(docsDir, 'README.md'), 'utf8');
  return FOLDERS.map(({ folder, text }) => {
    const place = (/** @type {string} */ name) => {
      const found = index.indexOf(`(${folder}/${name})`);
      // A page that the index does not list comes last.
      return found < 0 ? index.length : found;
    };
    const names = readdirSync(join(docsDir, folder)).filter(
      (name) => name.endsWith('.md') && name !== 'README.md',
    );
    return {
      text,
      collapsed: folder === 'decisions',
      items: [
        ...(folder === 'reference' ? INTERFACES : []),
        ...names
          .sort()
          .sort((a, b) => place(a) - place(b))
          .map((name) => ({
            text: titleOf(join(docsDir, folder, name)),
            link: `/${folder}/${name.replace(/\.md$/, '')}`,
          })),
      ],
    };
  });
}

/** Pages that programs render from the OpenAPI and AsyncAPI documents. They are not Markdown, so links to them load a new page. */
const INTERFACES = [
  { text: 'HTTP interface: try it', link: '/http/', target: '_self' },
  { text: 'MQTT interface', link: '/mqtt/', target: '_self' },
];

/** @param {string} path @returns {string} the first heading */
function titleOf(path) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  if (!title) throw new Error(`${path} has no title`);
  return title.replace(/^(?:Tutorial|How to): /, '').replace(/^./, (first) => first.toUpperCase());
}
