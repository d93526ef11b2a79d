import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { MillraceError } from '../../common/errors.js';
import { readPage } from './page.js';

const WEB_DIR = fileURLToPath(new URL('../../web/', import.meta.url));

/** Addresses of the dashboard's views; `web/routes.js` tells them apart in the browser, and a test compares the two. */
export const VIEW_PATHS = [
  '/',
  '/devices/:device',
  '/devices/:device/sensors/:sensor',
  '/pipeline',
  '/dead-letters',
];

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
  const pages = /** @type {const} */ ([
    [VIEW_PATHS, 'index.html'],
    [['/docs'], 'docs.html'],
  ]);

  for (const [paths, file] of pages) {
    router.get([...paths], answerWithPage(webDir, file));
    router.all([...paths], (_request, response) => {
      response.set('Allow', 'GET, HEAD');
      throw new MillraceError('method_not_allowed', 'Only GET and HEAD are served here.');
    });
  }

  router.use(
    '/assets',
    express.static(webDir, {
      index: false,
      redirect: false,
      cacheControl: false,
      setHeaders: (response) => response.setHeaders(new Map(Object.entries(ASSET_HEADERS))),
    }),
  );

  for (const [name, [packageName, file]] of Object.entries(VENDOR)) {
    const body = readFileSync(join(packageDir(packageName), file));
    router.get(`/vendor/${name}`, answerWith(extname(name), body, ASSET_HEADERS));
  }
  // Browsers ask for it by themselves, whatever the page names.
  router.get('/favicon.ico', (_request, response) => response.redirect('/assets/mark.svg'));

  router.get('/{*path}', nowhere(answerWithPage(webDir, 'index.html')));
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

/** @param {string} webDir @param {string} file */
function answerWithPage(webDir, file) {
  const { body, policy } = readPage(webDir, file);
  return answerWith('html', body, { ...COMMON_HEADERS, 'Content-Security-Policy': policy });
}

/**
 * @param {string} type file extension that stands for the media type
 * @param {Buffer} body
 * @param {Record<string, string>} headers
 * @returns {express.RequestHandler} answers 304 where the browser has the same bytes
 */
function answerWith(type, body, headers) {
  const etag = `"${sha256(body).slice(0, 22)}"`;
  return (_request, response) => {
    response
      .set({ ...headers, ETag: etag })
      .type(type)
      .send(body);
  };
}

/** @param {string | Buffer} content @returns {string} base64 */
const sha256 = (content) => createHash('sha256').update(content).digest('base64');

/** @param {string} name @returns {string} where npm put it, be it hoisted or not */
function packageDir(name) {
  const entry = createRequire(import.meta.url).resolve(name);
  const folder = `${sep}node_modules${sep}${name}${sep}`;
  return entry.slice(0, entry.lastIndexOf(folder) + folder.length);
}
