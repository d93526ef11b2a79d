import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { moduleGraph } from './module-graph.js';

/** The one script of our own that a page begins with. */
const FIRST_MODULE = /^ *<script type="module" src="([^"]+)"><\/script>$/m;

/**
 * A page of the dashboard as it is served: it names all modules that it is going to need. A browser then asks for them at
 * once, where it would find them level by level and wait for each: values are seen a fifth sooner.
 *
 * @param {string} webDir what is served below `/assets`
 * @param {string} file in it
 * @returns {{ body: Buffer, policy: string }} `policy`: for `Content-Security-Policy`
 */
export function readPage(webDir, file) {
  const page = readFileSync(join(webDir, file), 'utf8');
  const importMap = /<script type="importmap">([\s\S]*?)<\/script>/.exec(page)?.[1];
  const [, first] = FIRST_MODULE.exec(page) ?? [];
  if (!importMap || !first) throw new Error(`${file} has no import map, or no module`);
  const own = moduleGraph(first, (address) =>
    readFileSync(join(webDir, address.replace('/assets/', '')), 'utf8'),
  );
  const addresses = [...Object.values(JSON.parse(importMap).imports), ...own];
  const links = addresses.map((address) => `    <link rel="modulepreload" href="${address}" />\n`).join('');
  const body = Buffer.from(page.replace(FIRST_MODULE, (script) => links + script));
  return { body, policy: policyOf(importMap) };
}

/**
 * Nothing but our own files runs or loads. The import map is the one inline script, allowed by its hash:
 * browsers take import maps from the page itself only.
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
