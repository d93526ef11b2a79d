import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import express from 'express';
import sirv from 'sirv';
import { MillraceError } from '../../common/errors.ts';
import { PagePolicy } from './page-policy.ts';

const DASHBOARD_DIR = fileURLToPath(new URL('../../dist/web/', import.meta.url));

const NOT_BUILT = `<!doctype html><html lang="en"><title>Millrace</title>
<p>The dashboard is not built. Run <code>npm run build</code>, then reload this page.</p>
<p>The latest values are at <a href="/api/v1/latest">/api/v1/latest</a>.</p></html>`;

/** The views of the core. `web/routes.ts` has the same addresses, and a test compares them. */
export const VIEWS = ['/', '/devices/:device', '/devices/:device/sensors/:sensor'];

const COMMON_HEADERS = {
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
};

/** The names of these files contain a hash of their content. */
const ASSET_HEADERS = {
  ...COMMON_HEADERS,
  'Cache-Control': 'public, max-age=31536000, immutable',
  'Cross-Origin-Resource-Policy': 'same-origin',
  // A shared worker has the policy of its script, not the policy of the page.
  'Content-Security-Policy': "default-src 'none'; connect-src 'self'",
};

/**
 * Serves the page that `npm run build` has written for every view, and its files below `/assets`, compressed. The build lists the
 * views that features bring, in `pages.json`. At an unknown address, a browser gets the dashboard's page "not found". Other clients
 * go to the next router.
 */
export function createDashboard({ dir = DASHBOARD_DIR }: { dir?: string } = {}): express.Router {
  const router = express.Router();
  const page = createPage(dir);

  const refuse: express.RequestHandler = (_request, response) => {
    response.set('Allow', 'GET, HEAD');
    throw new MillraceError('method_not_allowed', 'Only GET and HEAD are served here.');
  };
  router.route(VIEWS).get(page(200)).all(refuse);
  const ifPage: express.RequestHandler = (request, _response, next) =>
    next(readPages(dir).includes(String(request.params['page'])) ? undefined : 'route');
  router.route('/:page').all(ifPage).get(page(200)).all(refuse);
  router.use(
    '/assets',
    sirv(join(dir, 'assets'), {
      // A later build has files with other names. With `dev`, the folder is read for each request. Without `dev`, it is read only once.
      dev: true,
      brotli: true,
      gzip: true,
      setHeaders: (response) => {
        for (const [name, value] of Object.entries(ASSET_HEADERS)) response.setHeader(name, value);
      },
    }),
  );
  router.get('/mark.svg', (_request, response) =>
    sendFile(response, join(dir, 'mark.svg'), 'public, max-age=86400'),
  );
  // Browsers request this address without a link.
  router.get('/favicon.ico', (_request, response) => response.redirect('/mark.svg'));
  router.get('/{*path}', forBrowsers(page(404)));
  return router;
}

/** @returns names of the pages that features bring; the dashboard may be built again while the process runs */
function readPages(dir: string): string[] {
  try {
    return JSON.parse(readFileSync(join(dir, 'pages.json'), 'utf8'));
  } catch {
    return [];
  }
}

/** Clients that prefer a problem document to HTML go to the next router. */
const forBrowsers =
  (answer: express.RequestHandler): express.RequestHandler =>
  (request, response, next) =>
    request.accepts(['application/problem+json', 'json', 'html']) === 'html'
      ? answer(request, response, next)
      : next();

function createPage(dir: string): (status: number) => express.RequestHandler {
  const path = join(dir, 'index.html');
  const policy = new PagePolicy(path);
  return (status) => (_request, response) => {
    response.status(status).set('Content-Security-Policy', policy.header());
    if (policy.isBuilt) sendFile(response, path);
    else response.status(503).type('html').send(NOT_BUILT);
  };
}

/**
 * A browser asks each time whether its copy is current (304). The modification time is not enough for that: after a return to an older
 * build, a browser would keep the newer page, whose assets are gone. `caching`: value of `Cache-Control`.
 */
function sendFile(response: express.Response, path: string, caching: string = 'no-cache') {
  const { size, mtimeMs } = statSync(path);
  response.set('ETag', `W/"${size}-${mtimeMs}"`);
  response.sendFile(path, {
    lastModified: false,
    headers: { ...COMMON_HEADERS, 'Cache-Control': caching },
  });
}
