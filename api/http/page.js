import { createHash } from 'node:crypto';

/** The one script of our own that a page begins with. */
const FIRST_MODULE = /^ *<script type="module" src="([^"]+)"><\/script>$/m;

/**
 * A page of the dashboard as it is served: it names all modules that its view is going to need. A browser then asks for
 * them at once, where it would find them level by level and wait for each: values are seen a fifth sooner.
 *
 * @param {string} page as it was written
 * @param {string[]} views addresses of the modules that it will import while it runs
 * @param {(address: string) => string} read the text of a module below `/assets`
 * @returns {{ body: Buffer, policy: string }} `policy`: for `Content-Security-Policy`
 */
export function completePage(page, views, read) {
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

/** Static imports, as our formatter writes them. What is imported while a module runs is left to its moment. */
const IMPORTS = /^(?:import|export) (?:[^;'"]*? from )?'([^']+)';$/gm;

/**
 * All modules below `/assets` that these import, however far down, and the packages.
 *
 * @param {string[]} first addresses of those that a page begins with
 * @param {(address: string) => string} read the text of a module
 * @returns {{ own: string[], packages: string[] }} `own`: addresses, the first ones included; `packages`: names of an import map
 */
function moduleGraph(first, read) {
  const own = new Set(first);
  /** @type {Set<string>} */
  const packages = new Set();
  // What is added on the way is come to as well.
  for (const address of own) {
    for (const [, name = ''] of read(address).matchAll(IMPORTS)) {
      if (name.startsWith('.')) own.add(new URL(name, `http://here${address}`).pathname);
      else packages.add(name);
    }
  }
  return { own: [...own], packages: [...packages] };
}
