import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { defineConfig } from 'vite';

/** @import { GetModuleInfo } from 'rollup' */

/** Minimum size of a compressed file, in bytes. A smaller file fits into one packet without compression. */
const COMPRESSED_FROM = 1024;

/** URL of the API on this machine. `npm run dev:web` forwards all requests to it, except those for the dashboard. */
const API = `http://127.0.0.1:${process.env['HTTP_PORT'] ?? 8080}`;

/**
 * The dashboard: `npm run build` writes it to `dist/web`, and the API serves it. `npm run dev:web` serves the sources, replaces edited
 * modules in the open page, and asks a running API for the data.
 */
export default defineConfig({
  root: 'web',
  cacheDir: '../.data/vite',
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir: '../dist/web',
    emptyOutDir: true,
    target: 'es2022',
    sourcemap: true,
    // The browser caches each file by its name. A data URL would be loaded again whenever the file that contains it changes.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    cssCodeSplit: false,
    rollupOptions: { output: { manualChunks: chunkOf } },
  },
  server: {
    proxy: Object.fromEntries(
      ['/api', '/healthz', '/readyz', '/docs'].map((path) => [path, { target: API }]),
    ),
  },
  plugins: [
    { name: 'precompress', apply: 'build', writeBundle: ({ dir = '' }) => precompress(dir) },
    { name: 'pages', apply: 'build', generateBundle: emitPages },
  ],
});

/**
 * Names the output file of a module. Otherwise the modules that several views share would become some forty files, and the first view
 * would request each of them.
 *
 * @param {string} id path of the module
 * @param {{ getModuleInfo: GetModuleInfo }} graph
 * @returns {string | undefined} name of the file; undefined: the module stays in the file of its view
 */
function chunkOf(id, { getModuleInfo }) {
  if (getModuleInfo(id)?.isEntry) return undefined;
  if (id.includes('/web/chart/') || id.includes('/uplot/')) return 'chart';
  const isFirst = FIRST.some((name) => importsOf(join(import.meta.dirname, name), getModuleInfo).has(id));
  return isFirst ? 'shared' : undefined;
}

/** The entry modules of the first view. */
const FIRST = ['web/app.tsx', 'web/views/fleet/fleet.tsx'];

/**
 * @param {string} id
 * @param {GetModuleInfo} getModuleInfo
 * @param {Set<string>} [found]
 * @returns {Set<string>} the module, and all modules that it imports statically, directly or indirectly
 */
function importsOf(id, getModuleInfo, found = new Set()) {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of getModuleInfo(id)?.importedIds ?? []) importsOf(imported, getModuleInfo, found);
  return found;
}

/** The page of a feature, which is named like the folder of the feature. */
const PAGE = /\/web\/features\/([^/]+)\/\1\.tsx$/;

/**
 * Writes the names of the pages that features bring. The API serves the dashboard at these addresses.
 *
 * @this {import('rollup').PluginContext}
 * @param {unknown} _options
 * @param {import('rollup').OutputBundle} bundle
 */
function emitPages(_options, bundle) {
  const pages = Object.values(bundle).flatMap((chunk) =>
    chunk.type === 'chunk' && chunk.isDynamicEntry ? (PAGE.exec(chunk.facadeModuleId ?? '')?.[1] ?? []) : [],
  );
  this.emitFile({ type: 'asset', fileName: 'pages.json', source: JSON.stringify(pages.sort()) });
}

/**
 * Writes compressed copies next to the files, so that no request waits for a compressor.
 *
 * @param {string} dir
 */
async function precompress(dir) {
  const names = await readdir(dir, { recursive: true });
  const paths = names.filter((name) => /\.(?:js|css|svg)$/.test(name)).map((name) => join(dir, name));
  await Promise.all(
    paths.map(async (path) => {
      const content = await readFile(path);
      if (content.length < COMPRESSED_FROM) return;
      const params = { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY };
      await Promise.all([
        promisify(brotliCompress)(content, { params }).then((small) => writeFile(`${path}.br`, small)),
        promisify(gzip)(content, { level: constants.Z_BEST_COMPRESSION }).then((small) =>
          writeFile(`${path}.gz`, small),
        ),
      ]);
    }),
  );
}
