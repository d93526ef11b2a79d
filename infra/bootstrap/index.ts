/**
 * Installs the npm packages and other programs that Millrace needs on a machine. This code runs before any package is installed, so no
 * file of this folder may import a package.
 */
export { ensurePackages } from './packages.ts';
export { ensureTools, findTools } from './tools.ts';
