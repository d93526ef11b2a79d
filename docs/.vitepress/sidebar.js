import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ text: string, link: string, target?: string }} Page */
/** @typedef {{ text: string, collapsed?: boolean, items: Array<Page | { text: string, collapsed: boolean, items: Page[] }> }} Section */

/** The folders of pages, in the order in which a newcomer needs them, with their headings in the index. */
const FOLDERS = [
  { folder: 'tutorial', heading: 'Tutorials' },
  { folder: 'how-to', heading: 'How-to pages' },
  { folder: 'reference', heading: 'Reference' },
  { folder: 'explanation', heading: 'Explanation' },
  { folder: 'decisions', heading: 'Decisions' },
];

/** Pages that programs render from the OpenAPI and AsyncAPI documents. They are not Markdown, so links to them load a new page. */
const RENDERED = [
  { text: 'HTTP interface: try it', link: '/http/', target: '_self' },
  { text: 'MQTT interface', link: '/mqtt/', target: '_self' },
];

/**
 * Lists the pages of each folder in the order and the groups of the index, so a new page needs no second entry. A group is a row of a
 * table there.
 *
 * @param {string} docsDir
 * @returns {Section[]}
 */
export function sidebar(docsDir) {
  const index = readFileSync(join(docsDir, 'README.md'), 'utf8');
  return FOLDERS.map(({ folder, heading }) => {
    const [, part = ''] = index.split(new RegExp(`^## ${heading}$`, 'm'));
    const [lines = ''] = part.split(/^## /m);
    const left = new Set(
      readdirSync(join(docsDir, folder)).filter((name) => name.endsWith('.md') && name !== 'README.md'),
    );
    /** @param {string} name @returns {Page} */
    const page = (name) => ({
      text: titleOf(join(docsDir, folder, name)),
      link: `/${folder}/${name.replace(/\.md$/, '')}`,
    });
    /** @param {string} line of the index @returns {Section['items']} */
    function itemsOf(line) {
      const pages = [...line.matchAll(new RegExp(`\\(${folder}/([\\w-]+\\.md)\\)`, 'g'))].flatMap(
        ([, name = '']) => (left.delete(name) ? [page(name)] : []),
      );
      const [, group] = /^\| ([^|]+) \|/.exec(line) ?? [];
      if (!group || pages.length === 0) return pages;
      return [{ text: capitalized(group), collapsed: true, items: pages }];
    }
    const items = lines.split('\n').flatMap((line) => itemsOf(line));
    return {
      text: heading,
      collapsed: folder === 'decisions',
      items: [...(folder === 'reference' ? RENDERED : []), ...items, ...[...left].sort().map(page)],
    };
  });
}

/** @param {string} path @returns {string} the first heading */
function titleOf(path) {
  const [, title] = /^# (.+)$/m.exec(readFileSync(path, 'utf8')) ?? [];
  if (!title) throw new Error(`${path} has no title`);
  return capitalized(title.replace(/^(?:Tutorial|How to): /, '').replaceAll('`', ''));
}

/** @param {string} text */
const capitalized = (text) => text.replace(/^./, (first) => first.toUpperCase());
