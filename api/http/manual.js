import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { compressAnswers } from './compression.js';
import { PagePolicy } from './page-policy.js';

const MANUAL_DIR = fileURLToPath(new URL('../../dist/docs/', import.meta.url));

/**
 * Content types that are compressed: pages, programs, styles, drawings and the search index. Pictures already have their own
 * compression.
 */
const COMPRESSED = /^(?:text\/(?:html|css|javascript)|application\/(?:javascript|json)|image\/svg\+xml)\b/i;

const NOT_BUILT = `<!doctype html><html lang="en"><title>Manual · Millrace</title>
<p>The manual is not built. Run <code>npm run docs:build</code>, then reload this page.</p>
<p>The interfaces: <a href="/openapi.json">/openapi.json</a>, <a href="/asyncapi.json">/asyncapi.json</a>.</p></html>`;

/**
 * Serves the manual below `/docs/`, as `npm run docs:build` has written it. The manual may also be built while the process runs.
 *
 * @param {{ dir?: string }} [options]
 * @returns {express.Router}
 */
export function createManual({ dir = MANUAL_DIR } = {}) {
  const router = express.Router();
  const policy = new PagePolicy(join(dir, 'index.html'), () => pagesIn(dir));
  router.use('/docs', (req, res, next) => {
    // The page of the MQTT interface compiles JSON schemas, so its policy permits `eval`. It reads only Millrace's own document.
    const exceptions = { inlineStyles: true, evaluation: req.path.startsWith('/mqtt/') };
    res.set({
      'Content-Security-Policy': policy.header(exceptions),
      'X-Content-Type-Options': 'nosniff',
    });
    next();
  });
  router.use('/docs', compressAnswers(COMPRESSED));
  router.use(
    '/docs',
    express.static(dir, {
      extensions: ['html'],
      setHeaders: (res, path) =>
        // The names of these files contain a hash of their content.
        res.set(
          'Cache-Control',
          path.startsWith(join(dir, 'assets/')) ? 'public, max-age=31536000, immutable' : 'no-cache',
        ),
    }),
  );
  router.get('/docs{/*path}', (_req, res) => {
    const page = join(dir, '404.html');
    res.status(404);
    if (existsSync(page)) res.sendFile(page);
    else res.type('html').send(NOT_BUILT);
  });
  return router;
}

/** @param {string} dir @returns {string[]} paths */
const pagesIn = (dir) =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => join(dir, name));
