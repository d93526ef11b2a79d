import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { MillraceError } from '../../common/errors.js';

const WEB_DIR = fileURLToPath(new URL('../../web/', import.meta.url));

/**
 * The packages of the import map of `web/index.html`: package and file. No other file of node_modules is served.
 *
 * @type {Record<string, [packageName: string, file: string]>}
 */
const VENDOR = {
  'preact.js': ['preact', 'dist/preact.mjs'],
  'preact-hooks.js': ['preact', 'hooks/dist/hooks.mjs'],
  'htm.js': ['htm', 'dist/htm.mjs'],
  'htm-preact.js': ['htm', 'preact/index.mjs'],
  'uplot.js': ['uplot', 'dist/uPlot.esm.js'],
  'uplot.css': ['uplot', 'dist/uPlot.min.css'],
};

/** File names have no version, so a browser revalidates its copy each time (ETag, 304). */
const COMMON_HEADERS = {
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
};
const ASSET_HEADERS = { ...COMMON_HEADERS, 'Cross-Origin-Resource-Policy': 'same-origin' };

/**
 * Serves the dashboard: `web/` under /assets, its libraries under /vendor, and index.html for every view.
 * Unknown addresses go to the next router, except for a browser: it gets the dashboard's page "not found".
 *
 * @param {{ webDir?: string }} [options]
 * @returns {express.Router}
 */
export function createStatic({ webDir = WEB_DIR } = {}) {
  const router = express.Router();
  const assets = createAssets(webDir);
  const answerWithPage = createPages(assets);
  const pages = VIEWS.map(({ path, module }) => ({ path, page: answerWithPage('index.html', [module]) }));

  for (const { path, page } of pages) {
    router.get(path, page);
    router.all(path, (_request, response) => {
      response.set('Allow', 'GET, HEAD');
      throw new MillraceError('method_not_allowed', 'Only GET and HEAD are served here.');
    });
  }

  router.get('/assets/*name', ({ params }, response, next) => {
    const asset = assets.get(/** @type {string[]} */ (/** @type {unknown} */ (params.name)).join('/'));
    if (!asset) return next();
    send(response, asset, ASSET_HEADERS);
  });

  for (const [name, [packageName, file]] of Object.entries(VENDOR)) {
    const asset = readAsset(join(packageDir(packageName), file));
    router.get(`/vendor/${name}`, (_request, response) => send(response, asset, ASSET_HEADERS));
  }
  // Browsers request it without a link.
  router.get('/favicon.ico', (_request, response) => response.redirect('/assets/mark.svg'));

  router.get('/{*path}', notFound(answerWithPage('index.html', ['/assets/views/not-found.js'])));
  return router;
}

/**
 * @param {express.RequestHandler} answer
 * @returns {express.RequestHandler} the page with status 404, if the client prefers HTML to a problem document
 */
const notFound = (answer) => (request, response, next) => {
  if (request.accepts(['application/problem+json', 'json', 'html']) !== 'html') return next();
  response.status(404);
  return answer(request, response, next);
};

/**
 * @param {Assets} assets
 * @returns {(file: string, views?: string[]) => express.RequestHandler} `views`: addresses of the modules that the page imports dynamically
 */
const createPages =
  (assets) =>
  (file, views = []) => {
    const read = (/** @type {string} */ address) =>
      String(assets.get(address.replace('/assets/', ''))?.body ?? '');
    const { body, policy } = completePage(read(file), views, read);
    const page = { type: 'html', body, etag: etagOf(body) };
    const headers = { ...COMMON_HEADERS, 'Content-Security-Policy': policy };
    return (_request, response) => send(response, page, headers);
  };

/**
 * Sends a file; Express answers 304 if the browser has the same bytes.
 *
 * @param {express.Response} response
 * @param {Asset} asset
 * @param {Record<string, string>} headers
 */
function send(response, { type, body, etag }, headers) {
  response
    .set({ ...headers, ETag: etag })
    .type(type)
    .send(body);
}

/** @param {string} name @returns {string} its folder, hoisted or not */
function packageDir(name) {
  const entry = createRequire(import.meta.url).resolve(name);
  const folder = `${sep}node_modules${sep}${name}${sep}`;
  return entry.slice(0, entry.lastIndexOf(folder) + folder.length);
}

/**
 * The addresses of the dashboard's views, each with its module below `/assets`. `web/routes.js` has the same addresses; a test compares
 * the two.
 */
export const VIEWS = [
  { path: '/', module: '/assets/views/fleet.js' },
  { path: '/devices/:device', module: '/assets/views/device.js' },
  { path: '/devices/:device/sensors/:sensor', module: '/assets/views/sensor.js' },
  { path: '/pipeline', module: '/assets/views/pipeline.js' },
  { path: '/dead-letters', module: '/assets/views/dead-letters.js' },
];

/**
 * A file in memory.
 *
 * @typedef {object} Asset
 * @property {string} type its extension, which gives the media type
 * @property {Buffer} body
 * @property {string} etag
 */

/** @param {string} path @returns {Asset} */
export function readAsset(path) {
  const body = readFileSync(path);
  return { type: extname(path), body, etag: etagOf(body) };
}

/** @param {Buffer} body @returns {string} */
export const etagOf = (body) => `"${createHash('sha256').update(body).digest('base64').slice(0, 22)}"`;

/**
 * The files of a folder, in memory. A page requests a hundred of them at once from a process that ingests. If `express.static` opened and
 * read each one, every file would wait four times for the event loop. An edited file is read again. A new file is served
 * after the next start.
 *
 * @param {string} dir
 */
export function createAssets(dir) {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length));
  /** By name, with `/` between folders; null: not read yet. @type {Map<string, { modifiedAt: number, asset: Asset } | null>} */
  const files = new Map(names.map((name) => [name.replaceAll(sep, '/'), null]));

  return {
    /** @param {string} name below the folder @returns {Asset | null} null: there is no such file */
    get(name) {
      const cached = files.get(name);
      if (cached === undefined) return null;
      const path = join(dir, name);
      const modifiedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (modifiedAt === undefined) return null;
      if (cached?.modifiedAt === modifiedAt) return cached.asset;
      const asset = readAsset(path);
      files.set(name, { modifiedAt, asset });
      return asset;
    },
  };
}

/** @typedef {ReturnType<typeof createAssets>} Assets */

/** The entry module of a page. */
const FIRST_MODULE = /^ *<script type="module" src="([^"]+)"><\/script>$/m;

/**
 * Adds a preload link for each module that the view of a page needs. A browser then requests all of them at once. Without the links it finds
 * them level by level and waits for each level. Values appear a fifth sooner.
 *
 * @param {string} page HTML
 * @param {string[]} views addresses of the modules that it imports dynamically
 * @param {(address: string) => string} read the text of a module below `/assets`
 * @returns {{ body: Buffer, policy: string }} `policy`: the value of `Content-Security-Policy`
 */
function completePage(page, views, read) {
  const importMap = /<script type="importmap">([\s\S]*?)<\/script>/.exec(page)?.[1];
  const [, first] = FIRST_MODULE.exec(page) ?? [];
  if (!importMap || !first) throw new Error('a page has no import map, or no module');
  const { own, packages } = moduleGraph([first, ...views], read);
  const libraries = Object.entries(JSON.parse(importMap).imports).filter(([name]) =>
    packages.some((used) => used === name || used.startsWith(`${name}/`)),
  );
  const addresses = [...libraries.map(([, address]) => address), ...own];
  const links = addresses.map((address) => `    <link rel="modulepreload" href="${address}" />\n`).join('');
  const body = Buffer.from(page.replace(FIRST_MODULE, (script) => links + script));
  return { body, policy: policyOf(importMap) };
}

/**
 * Allows only files of this server. The import map is the only inline script, allowed by its hash, because browsers accept import maps only
 * inline.
 *
 * @param {string} importMap
 */
const policyOf = (importMap) =>
  [
    "default-src 'none'",
    `script-src 'self' 'sha256-${createHash('sha256').update(importMap).digest('base64')}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** Static imports, as Biome formats them. Dynamic imports are not preloaded. */
const IMPORTS = /^(?:import|export) (?:[^;'"]*? from )?'([^']+)';$/gm;

/**
 * Finds all modules below `/assets` and all packages that these modules import, directly or not.
 *
 * @param {string[]} first addresses of the entry modules
 * @param {(address: string) => string} read the text of a module
 * @returns {{ own: string[], packages: string[] }} `own`: addresses, the first ones included; `packages`: names in the import map
 */
function moduleGraph(first, read) {
  const own = new Set(first);
  /** @type {Set<string>} */
  const packages = new Set();
  // A Set also iterates over the addresses that the loop adds.
  for (const address of own) {
    for (const [, name = ''] of read(address).matchAll(IMPORTS)) {
      if (name.startsWith('.')) own.add(new URL(name, `http://here${address}`).pathname);
      else packages.add(name);
    }
  }
  return { own: [...own], packages: [...packages] };
}
