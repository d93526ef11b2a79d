import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { writeGenerated } from './generated.js';
import { writeInterfaces } from './interfaces.js';
import { keepCode, linkToRepository } from './links.js';
import { sidebar } from './sidebar.js';
import { designTokens } from './tokens.js';

const docsDir = fileURLToPath(new URL('..', import.meta.url));

writeGenerated();

/** The manual's paths of pages that a repository shows for their folder. */
const rewrites = { 'README.md': 'index.md', 'decisions/README.md': 'decisions/index.md' };

const base = process.env['DOCS_BASE'] ?? '/docs/';

/**
 * The manual: `npm run docs:build` writes it to `dist/docs`, and the API serves it at `/docs/`. A project of GitHub has its pages below the
 * project's name, so the workflow that publishes them sets `DOCS_BASE`.
 */
export default defineConfig({
  title: 'Millrace',
  description: 'IoT ingestion reference application for ScyllaDB and Apache Cassandra',
  base,
  outDir: '../dist/docs',
  cacheDir: '../.data/vitepress',
  cleanUrls: true,
  rewrites,
  head: [
    ['link', { rel: 'icon', href: `${base}mark.svg`, type: 'image/svg+xml' }],
    ['style', {}, designTokens()],
  ],
  markdown: {
    config: (md) => {
      linkToRepository(md, { docsDir, rewrites, repositoryUrl: repositoryUrl() });
      keepCode(md);
    },
  },
  vite: { plugins: [{ name: 'ranked-search', enforce: 'pre', resolveId: searchOf }] },
  buildEnd: ({ outDir }) => writeInterfaces(outDir),
  themeConfig: {
    logo: '/mark.svg',
    nav: [
      { text: 'Tutorial', link: '/tutorial/run-it' },
      { text: 'How-to', link: '/how-to/deploy' },
      { text: 'Reference', link: '/reference/http' },
      { text: 'Explanation', link: '/explanation/path-of-a-measurement' },
    ],
    sidebar: sidebar(docsDir),
    outline: [2, 3],
    search: { provider: 'local' },
  },
});

/** @param {string} id @param {string} [importer] @returns {string | null} the module that ranks results, for the box that searches */
function searchOf(id, importer) {
  return id === 'minisearch' && importer?.includes('VPLocalSearchBox')
    ? fileURLToPath(new URL('search.js', import.meta.url))
    : null;
}

/** @returns {string | null} the address of the source files; null: unknown outside a workflow, so such links become plain text */
function repositoryUrl() {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_SHA: commit } = process.env;
  return server && repository && commit ? `${server}/${repository}/blob/${commit}` : null;
}
