import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { MillraceError } from '../../common/errors.js';
import { createAssets, etagOf, readAsset } from './assets.js';
import { completePage } from './page.js';
import { VIEWS } from './views.js';

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

  router.get('/{*path}', nowhere(answerWithPage('index.html', ['/assets/views/nowhere.js'])));
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
 * @param {import('./assets.js').Assets} assets
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
 * @param {import('./assets.js').Asset} asset
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
