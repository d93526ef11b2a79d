import { readFileSync } from 'node:fs';
import { MillraceError } from '../../common/errors.js';

const PACKAGE = new URL('../../package.json', import.meta.url);

/**
 * @param {string} [version] version of Node.js; default: the version that runs this process
 * @throws {MillraceError} `tool_missing` when the version is older than `engines` in package.json requires
 */
export function checkNode(version = process.versions.node) {
  const oldest = String(JSON.parse(readFileSync(PACKAGE, 'utf8')).engines.node).replace('>=', '');
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [leastMajor = 0, leastMinor = 0] = oldest.split('.').map(Number);
  if (major > leastMajor || (major === leastMajor && minor >= leastMinor)) return;
  throw new MillraceError(
    'tool_missing',
    `Millrace needs Node.js ${oldest} or newer; this is ${version}. See https://nodejs.org`,
  );
}
