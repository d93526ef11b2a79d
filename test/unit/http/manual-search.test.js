import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { beforeAll, expect, test } from '@jest/globals';
import MiniSearch from 'minisearch';
import { termsOf, withRanking } from '../../../docs/.vitepress/search.js';

const DOCS = fileURLToPath(new URL('../../../docs/', import.meta.url));

/** The options of the search box of VitePress. */
const OPTIONS = {
  fields: ['title', 'titles', 'text'],
  storeFields: ['title', 'titles'],
  searchOptions: { fuzzy: 0.2, prefix: true, boost: { title: 4, text: 2, titles: 1 } },
};

/** @type {MiniSearch} */
let index;
beforeAll(() => {
  index = new MiniSearch(withRanking(OPTIONS));
  const pages = readdirSync(DOCS, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /^[a-z-]+\/[\w-]+\.md$/.test(name),
  );
  for (const page of pages) index.addAll(sectionsOf(page));
});

/** @param {string} page */
function sectionsOf(page) {
  const [head = '', ...sections] = readFileSync(DOCS + page, 'utf8').split(/^#{2,3} /m);
  const title = head.split('\n')[0]?.replace('# ', '') ?? '';
  return [head.replace('# ', ''), ...sections].map((text, place) => {
    const [heading = '', ...rest] = text.split('\n');
    const id = `/docs/${page.replace('.md', '')}#${place}`;
    return { id, title: heading, titles: place === 0 ? [] : [title], text: rest.join('\n') };
  });
}

/** @param {string} words @returns {string[]} pages, the best first */
const find = (words) => [...new Set(index.search(words).map(({ id }) => id.replace(/^\/docs\/|#.*/g, '')))];

test.each([
  ['message refused', /dead-letters|first-measurement|errors/],
  ['timezone', /^(?:how-to|tutorial|reference)/],
  ['alarm', /^how-to\/(?:set-an-alarm|receive-alarms)/],
  ['zigbee', /^how-to\/map-your-topics/],
  ['backup', /^how-to\/back-up-and-restore/],
  ['retention', /^(?:how-to|reference)/],
  ['ssl certificates', /^how-to\/use-tls/],
  ['delete a device', /^(?:how-to|reference)/],
])('Search of the manual: query %s: the right page is among the first three results', (words, page) => {
  expect(
    find(words)
      .slice(0, 3)
      .filter((found) => page.test(found)),
  ).not.toEqual([]);
});

test.each(['message refused', 'scale ingest', 'alarm', 'node', 'credentials', 'history'])(
  'Search of the manual: query %s: the first result is no decision record and no benchmark',
  (words) => {
    expect(find(words)[0]).not.toMatch(/^decisions|benchmark|mutation/);
  },
);

test('Search of the manual: query in the plural: the singular and its synonyms are also searched', () => {
  expect(termsOf('Alarms')).toEqual(['alarms', 'alarm', 'alert']);
  expect(termsOf('constructor')).toEqual(['constructor']);
});
