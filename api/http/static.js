import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';

const WEB_DIR = fileURLToPath(new URL('../../web/', import.meta.url));

/** Addresses of the dashboard's views; `web/routes.js` tells them apart in the browser, and a test compares the two. */
export const VIEW_PATHS = ['/', '/devices/:device', '/devices/:device/sensors/:sensor'];

/** What the import map of `web/index.html` names: package and file, nothing else of node_modules is served. */
const VENDOR = {
  'preact.js': ['preact', 'dist/preact.mjs'],
  'preact-hooks.js': ['preact', 'hooks/dist/hooks.mjs'],
  'htm.js': ['htm', 'dist/htm.mjs'],
  'htm-preact.js': ['htm', 'preact/index.mjs'],
  'uplot.js': ['uplot', 'dist/uPlot.esm.js'],
  'uplot.css': ['uplot', 'dist/uPlot.min.css'],
};

/** File names carry no version, so a browser asks each time whether its copy is still good (ETag, 304). */
const CACHE = 'no-cache';

/**
 * Serves the dashboard: `web/` under /assets, its libraries under /vendor, index.html for every view.
 * Whatever it does not know is left to the routers after it.
 *
 * @param {{ webDir?: string }} [options]
 * @returns {express.Router}
 */
export function createStatic({ webDir = WEB_DIR } = {}) {
  const router = express.Router();
  const page = readFileSync(join(webDir, 'index.html'), 'utf8');
  const pageHeaders = { ...COMMON_HEADERS, 'Content-Security-Policy': contentSecurityPolicy(page) };
  const assetHeaders = { ...COMMON_HEADERS, 'Cross-Origin-Resource-Policy': 'same-origin' };

  router.get(VIEW_PATHS, (_request, response) => {
    response.set(pageHeaders).type('html').send(page);
  });

  router.use(
    '/assets',
    express.static(webDir, {
      index: false,
      redirect: false,
      cacheControl: false,
      setHeaders: (response) => setAll(response, assetHeaders),
    }),
  );

  for (const [name, [packageName = '', file = '']] of Object.entries(VENDOR)) {
    const path = join(packageDir(packageName), file);
    router.get(`/vendor/${name}`, (_request, response) => {
      response.sendFile(path, { cacheControl: false, headers: assetHeaders });
    });
  }
  return router;
}

const COMMON_HEADERS = {
  'Cache-Control': CACHE,
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
};

/** @param {import('express').Response} response @param {Record<string, string>} headers */
function setAll(response, headers) {
  for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
}

/**
 * Nothing but our own files runs or loads. The import map is the one inline script, allowed by its hash:
 * browsers take import maps from the page itself only.
 *
 * @param {string} page
 * @returns {string}
 */
function contentSecurityPolicy(page) {
  const importMap = /<script type="importmap">([\s\S]*?)<\/script>/.exec(page)?.[1];
  if (importMap === undefined) throw new Error('web/index.html has no import map');
  const hash = createHash('sha256').update(importMap).digest('base64');
  return [
    "default-src 'none'",
    `script-src 'self' 'sha256-${hash}'`,
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** @param {string} name @returns {string} where npm put it, be it hoisted or not */
function packageDir(name) {
  const entry = createRequire(import.meta.url).resolve(name);
  const folder = `${sep}node_modules${sep}${name}${sep}`;
  return entry.slice(0, entry.lastIndexOf(folder) + folder.length);
}
