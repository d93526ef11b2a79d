/** Static imports, as our formatter writes them. What is imported while a module runs is left to its moment. */
const IMPORTS = /^(?:import|export) (?:[^;'"]*? from )?'([^']+)';$/gm;

/**
 * All modules below `/assets` that these import, however far down, and the packages.
 *
 * @param {string[]} first addresses of those that a page begins with
 * @param {(address: string) => string} read the text of a module
 * @returns {{ own: string[], packages: string[] }} `own`: addresses, the first ones included; `packages`: names of an import map
 */
export function moduleGraph(first, read) {
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
