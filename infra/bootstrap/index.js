/**
 * Brings a machine to where Millrace runs: npm packages and the programs that are none. Works before anything is
 * installed, so nothing here may import a package.
 */
export { checkNode } from './node.js';
export { ensurePackages } from './packages.js';
export { ensureTools, findTools } from './tools.js';
