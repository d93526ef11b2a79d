/**
 * Installs what Millrace needs on a machine: npm packages and other programs. This code works before anything is installed, so nothing
 * here may import a package.
 */
export { checkNode } from './node.js';
export { ensurePackages } from './packages.js';
export { ensureTools, findTools } from './tools.js';
