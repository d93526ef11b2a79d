import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import { compressAnswers } from './compression.ts';
import { PagePolicy } from './page-policy.ts';

const MANUAL_DIR = fileURLToPath(new URL('../../dist/docs/', import.meta.url));

/** Pictures already have their own compression. */
const COMPRESSED = /^(?:text\/(?:html|css|javascript)|application\/(?:javascript|json)|image\/svg\+xml)\b/i;

const DASHBOARD_DIR = fileURLToPath(new URL('../../dist/web/', import.meta.url));

/** `npm run dev` writes its process id into this file next to the manual while it builds the manual. */
export const BUILD_MARK = 'docs-build.pid';

/**
 * Serves what `npm run docs:build` has written. The manual may also be built while the process runs. Until then, its pages show the
 * progress.
 */
export function createManual({
  dir = MANUAL_DIR,
  dashboardDir = DASHBOARD_DIR,
  clock = Date.now,
  documents = [],
}: {
  dir?: string;
  dashboardDir?: string;
  clock?: () => number;
  /** paths of the documents of the interfaces */
  documents?: string[];
} = {}): express.Router {
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
    const beganAt = buildBegan(join(dir, '..', BUILD_MARK));
    const style = styleOf(dashboardDir);
    if (beganAt !== null)
      res
        .status(503)
        .set({ 'Retry-After': RETRY_S, 'Cache-Control': 'no-store' })
        .type('html')
        .send(buildingPage(style, Math.round((clock() - beganAt) / 1000)));
    else if (existsSync(page)) res.status(404).sendFile(page);
    else res.status(404).type('html').send(notBuiltPage(style, documents));
  });
  return router;
}

const RETRY_S = '2';

function buildBegan(mark: string): number | null {
  try {
    process.kill(Number(readFileSync(mark, 'utf8')), 0);
    return statSync(mark).mtimeMs;
  } catch {
    // There is no such file, or its process was killed.
    return null;
  }
}

function styleOf(dashboardDir: string): string {
  const index = join(dashboardDir, 'index.html');
  const [link = ''] = existsSync(index)
    ? (/<link rel="stylesheet"[^>]*>/.exec(readFileSync(index, 'utf8')) ?? [])
    : [];
  return link;
}

const buildingPage = (style: string, seconds: number) =>
  noticePage(`<meta http-equiv="refresh" content="${RETRY_S}">${style}`, [
    `<h1>The manual is being built (${Math.max(0, seconds)} s)</h1>`,
    '<p>This takes ten seconds to a few minutes. The page appears by itself.</p>',
  ]);

const notBuiltPage = (style: string, documents: string[]) =>
  noticePage(style, [
    '<h1>The manual is not built</h1>',
    '<p>Run <code>npm run docs:build</code>, then reload this page.</p>',
    `<p>The interfaces: ${documents.map((path) => `<a href="${path}">${path}</a>`).join(', ')}.</p>`,
  ]);

const noticePage = (head: string, lines: string[]) => `<!doctype html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Manual · Millrace</title><link rel="icon" href="/mark.svg" type="image/svg+xml">${head}
<header class="header"><div class="header-inner"><a class="brand" href="/" aria-label="Millrace"><img
src="/mark.svg" alt="" width="28" height="28"><span>Millrace</span></a></div></header>
<main><div class="notice" role="status">${lines.join('\n')}
<p class="notice-actions"><a class="button" href="/">To the dashboard</a></p></div></main></html>`;

const pagesIn = (dir: string): string[] =>
  readdirSync(dir, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.html'))
    .map((name) => join(dir, name));
