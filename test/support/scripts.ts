import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/**
 * Returns the words of a command of package.json as a service or an image runs it: without settings, and without the first
 * stage, because these have a Node.js of today.
 */
export const commandOf = (script: string): string[] =>
  String(scripts[script])
    .replace(/^(\w+=\w+ )*exec /, '')
    .replace(/ --import \S*first-stage\.js/, '')
    .split(' ');
