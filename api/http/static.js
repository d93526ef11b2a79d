import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { MillraceError } from '../../common/errors.js';
import { completePage } from './page.js';

const WEB_DIR = fileURLToPath(new URL('../../web/', import.meta.url));

/**
 * What the import map of `web/index.html` names: package and file. Nothing else of node_modules is served.
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

/** File names carry no version, so a browser asks each time whether its copy is still good (ETag, 304). */
const COMMON_HEADERS = {
  'Cache-Control': 'no-cache',
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
};
const ASSET_HEADERS = { ...COMMON_HEADERS, 'Cross-Origin-Resource-Policy': 'same-origin' };

/**
 * Serves the dashboard: `web/` under /assets, its libraries under /vendor, index.html for every view; and the page that
 * shows the documents.
 * Whatever it does not know is left to the routers after it, but for who reads pages: a browser gets the dashboard, which
 * says that there is nothing.
 *
 * @param {{ webDir?: string }} [options]
 * @returns {express.Router}
 */
export function createStatic({ webDir = WEB_DIR } = {}) {
  const router = express.Router();
  const assets = createAssets(webDir);
  const answerWithPage = createPages(assets);
  const pages = [
    ...VIEWS.map(({ path, module }) => ({ path, page: answerWithPage('index.html', [module]) })),
    { path: '/docs', page: answerWithPage('docs.html') },
  ];

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
  // Browsers ask for it by themselves, whatever the page names.
  router.get('/favicon.ico', (_request, response) => response.redirect('/assets/mark.svg'));

  router.get('/{*path}', nowhere(answerWithPage('index.html', ['/assets/views/not-found.js'])));
  return router;
}

/**
 * @param {express.RequestHandler} answer
 * @returns {express.RequestHandler} the page as 404, for who would rather have a page than a problem document
 */
const nowhere = (answer) => (request, response, next) => {
  if (request.accepts(['application/problem+json', 'json', 'html']) !== 'html') return next();
  response.status(404);
  return answer(request, response, next);
};

/**
 * @param {Assets} assets
 * @returns {(file: string, views?: string[]) => express.RequestHandler} `views`: addresses of the modules that the page will import while it runs
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
 * Answers 304 where the browser has the same bytes.
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

/** @param {string} name @returns {string} where npm put it, be it hoisted or not */
function packageDir(name) {
  const entry = createRequire(import.meta.url).resolve(name);
  const folder = `${sep}node_modules${sep}${name}${sep}`;
  return entry.slice(0, entry.lastIndexOf(folder) + folder.length);
}

/**
 * Addresses of the dashboard's views, and the module below `/assets` that shows each; `web/routes.js` tells them apart in the browser,
 * and a test compares the two.
 */
export const VIEWS = [
  { path: '/', module: '/assets/views/fleet.js' },
  { path: '/devices/:device', module: '/assets/views/device.js' },
  { path: '/devices/:device/sensors/:sensor', module: '/assets/views/sensor.js' },
  { path: '/pipeline', module: '/assets/views/pipeline.js' },
  { path: '/dead-letters', module: '/assets/views/dead-letters.js' },
];

/**
 * A file as it is sent.
 *
 * @typedef {object} Asset
 * @property {string} type its extension, which stands for the media type
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
 * The files of a folder, in memory. A page asks for a hundred of them at once, of a process that ingests: opened and read
 * one by one (express.static) each waits four times for its turn of the event loop. What is edited is read again; a file that is new is known
 * after the next start.
 *
 * @param {string} dir
 */
export function createAssets(dir) {
  const names = readdirSync(dir, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(dir.length));
  /** By name, `/` between folders; null: not asked for yet. @type {Map<string, { at: number, asset: Asset } | null>} */
  const files = new Map(names.map((name) => [name.replaceAll(sep, '/'), null]));

  return {
    /** @param {string} name below the folder @returns {Asset | null} null: there is no such file */
    get(name) {
      const known = files.get(name);
      if (known === undefined) return null;
      const path = join(dir, name);
      const at = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
      if (at === undefined) return null;
      if (known?.at === at) return known.asset;
      const asset = readAsset(path);
      files.set(name, { at, asset });
      return asset;
    },
  };
}

/** @typedef {ReturnType<typeof createAssets>} Assets */
