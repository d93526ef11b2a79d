import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';

const MANUAL_DIR = fileURLToPath(new URL('../../dist/docs/', import.meta.url));

const NOT_BUILT = `<!doctype html><html lang="en"><title>Manual · Millrace</title>
<p>The manual is not built. Run <code>npm run docs:build</code>, then reload this page.</p>
<p>The interfaces: <a href="/openapi.json">/openapi.json</a>, <a href="/asyncapi.json">/asyncapi.json</a>.</p></html>`;

/**
 * Serves the manual below `/docs/`, as `npm run docs:build` has written it. The manual may be built while the process runs.
 *
 * @param {{ dir?: string }} [options]
 * @returns {express.Router}
 */
export function createManual({ dir = MANUAL_DIR } = {}) {
  const router = express.Router();
  const policy = createPolicy(dir);
  router.use('/docs', (req, res, next) => {
    const canEval = req.path.startsWith('/mqtt/');
    res.set({ 'Content-Security-Policy': policy(canEval), 'X-Content-Type-Options': 'nosniff' });
    next();
  });
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
    if (statSync(page, { throwIfNoEntry: false })) res.sendFile(page);
    else res.type('html').send(NOT_BUILT);
  });
  return router;
}

/** @param {string} dir @returns {(canEval: boolean) => string} the policy for the pages that are there now */
function createPolicy(dir) {
  let builtAt = 0;
  /** @type {string[]} */
  let scripts = [];
  return (canEval) => {
    const modifiedAt = statSync(join(dir, 'index.html'), { throwIfNoEntry: false })?.mtimeMs ?? 0;
    if (modifiedAt !== builtAt) scripts = inlineScripts(dir);
    builtAt = modifiedAt;
    return policyOf(scripts, canEval);
  };
}

/** The generator puts a few small scripts into each page, the same ones everywhere. @param {string} dir */
function inlineScripts(dir) {
  const scripts = readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .flatMap((name) => [
      ...readFileSync(join(dir, name), 'utf8').matchAll(/<script(?![^>]*\ssrc=)[^>]*>([\s\S]*?)<\/script>/g),
    ]);
  return [...new Set(scripts.map(([, script = '']) => script))];
}

/**
 * Allows only files of this server. The generators write style attributes, so styles may be inline.
 *
 * @param {string[]} scripts
 * @param {boolean} canEval the program that renders the MQTT interface compiles schemas; it renders only our own document
 */
const policyOf = (scripts, canEval) =>
  [
    "default-src 'none'",
    `script-src ${["'self'", ...(canEval ? ["'unsafe-eval'"] : []), ...scripts.map(hashOf)].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "font-src 'self' data:",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** @param {string} script */
const hashOf = (script) => `'sha256-${createHash('sha256').update(script).digest('base64')}'`;
