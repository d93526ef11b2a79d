import { readFileSync } from 'node:fs';

const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/**
 * Returns the command of a script of package.json as a service or an image runs it: without settings, and without the first
 * stage, because these have a Node.js of today.
 *
 * @param {string} script
 * @returns {string[]} its words
 */
export const commandOf = (script) =>
  String(scripts[script])
    .replace(/^(\w+=\w+ )*exec /, '')
    .replace(/ --import \S*first-stage\.js/, '')
    .split(' ');
