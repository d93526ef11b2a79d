import { readFileSync } from 'node:fs';
import { PINNED } from '../../infra/first-stage.js';

/** @returns the oldest Node.js that package.json accepts, and the pinned one */
export function testedVersions(): string[] {
  const { engines } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  return [`${engines.node.replace('>=', '')}.0`, PINNED];
}
