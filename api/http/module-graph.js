/** Static imports from a neighbour, as our formatter writes them. What is imported while a module runs is left to its moment. */
const IMPORTS = /^(?:import|export) (?:[^;'"]*? from )?'(\.[^']+)';$/gm;

/**
 * All modules below `/assets` that the first one of a page imports, however far down.
 *
 * @param {string} first its address
 * @param {(address: string) => string} read the text of a module
 * @returns {string[]} their addresses, the first one included
 */
export function moduleGraph(first, read) {
  const found = new Set([first]);
  // What is added on the way is come to as well.
  for (const address of found) {
    for (const [, path = ''] of read(address).matchAll(IMPORTS)) {
      found.add(new URL(path, `http://here${address}`).pathname);
    }
  }
  return [...found];
}
