import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from '@jest/globals';
import { ALL_SETTINGS } from '../../../api/features/index.ts';
import { ERRORS } from '../../../common/errors.ts';
import { GENERATED } from '../../../docs/.vitepress/generated.js';
import { sidebar } from '../../../docs/.vitepress/sidebar.js';
import { designTokens } from '../../../docs/.vitepress/tokens.js';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

const sections = sidebar(DOCS);
const titles = (index: number) => sections[index]?.items.map(({ text }) => text);

test('Sidebar of the manual: tutorials in the order of the index, how-to pages in its groups, and every page once', () => {
  expect(titles(0)).toEqual(['Run it', 'Your first measurement', 'Your first sensor', 'Write a feature']);
  expect(sections[1]?.items.every((item) => 'items' in item)).toBe(true);
  expect(titles(1)?.slice(0, 2)).toEqual(['Connect devices', 'Manage devices and data']);
  const pages = sections
    .flatMap(({ items }) => items)
    .flatMap((item) => ('items' in item ? item.items : [item]));
  const links = pages.map(({ link }) => `${link.slice(1)}.md`);
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter(
    (name) => /^(?!\.)[a-z-]+\/[\w-]+\.md$/.test(name) && !name.endsWith('README.md'),
  );
  expect(links.filter((link) => !/^(?:http|mqtt)\//.test(link)).sort()).toEqual(files.sort());
});

test('Look of the manual: it has the fonts and colors of the dashboard', () => {
  for (const token of ['--sans', '--mono', '--surface', '--ink', '--accent', '--warn-soft'])
    expect(designTokens()).toContain(`${token}: `);
});

test('Generated parts of the manual: the pages include each of them, and no other', () => {
  const included = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
    .map((name) => (name.endsWith('.md') ? readFileSync(DOCS + name, 'utf8') : ''))
    .flatMap((text) => [...text.matchAll(/<!--@include: (.+\/manual\/.+?)-->/g)])
    .map(([, path]) => path);
  expect(included.sort()).toEqual(
    Object.keys(GENERATED)
      .map((name) => `../../.data/manual/${name}.md`)
      .sort(),
  );
});

test('Generated parts of the manual: they have every setting, error code and migration', () => {
  const text = Object.values(GENERATED)
    .map((contentOf) => contentOf())
    .join('\n');
  const migrations = readdirSync('schema/migrations').map((name) => `\n## ${Number.parseInt(name, 10)}. `);
  const names = [...Object.keys(ALL_SETTINGS), ...Object.keys(ERRORS)].map((name) => `\n| \`${name}\``);
  expect([...names, ...migrations].filter((start) => !`\n${text}`.includes(start))).toEqual([]);
});
