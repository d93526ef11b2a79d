import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A statement as it stands in the source.
 *
 * @typedef {object} WrittenStatement
 * @property {string} file
 * @property {string} cql with `${...}` where a function puts a word in
 * @property {(cql: string) => boolean} isSent whether a text that was sent is this statement
 */

const LITERAL =
  /'((?:SELECT|INSERT|UPDATE|DELETE) [^']*)'|"((?:SELECT|INSERT|UPDATE|DELETE) [^"]*)"|`([^`]+)`/g;
const CONSTANT = /const (\w+) =\s+(?:'([^']*)'|"([^"]*)"|`([^`]*)`)/g;
const PLACE = /\$\{(\w+)\}/g;

/**
 * Every statement that the sources of some folders spell out, so that what is never sent is noticed. A constant that
 * stands in others is a part of them, and none by itself.
 *
 * @param {string[]} folders
 * @returns {WrittenStatement[]}
 */
export function statementsOf(folders) {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((file) => file.endsWith('.js'))
    .flatMap((file) => statementsIn(readFileSync(file, 'utf8')).map((cql) => ({ file, ...written(cql) })));
}

/** @param {string} source @returns {string[]} CQL */
export function statementsIn(source) {
  const constants = Object.fromEntries(
    [...source.matchAll(CONSTANT)].map(([, name, a, b, c]) => [name, a ?? b ?? c ?? '']),
  );
  const parts = new Set([...source.matchAll(PLACE)].map(([, name = '']) => constants[name]));
  const found = [...source.matchAll(LITERAL)]
    .map(([, a, b, c]) => a ?? b ?? c ?? '')
    .filter((text) => !parts.has(text))
    .map((text) => text.replaceAll(PLACE, (place, name) => constants[name] ?? place))
    .filter((text) => /^(SELECT|INSERT|UPDATE|DELETE) /.test(text));
  return [...new Set(found)];
}

/** @param {string} cql */
function written(cql) {
  const pattern = new RegExp(
    `^${cql
      .split(PLACE)
      .map((part, at) => (at % 2 ? '[\\w ]*' : escaped(part)))
      .join('')}$`,
  );
  return { cql, isSent: (/** @type {string} */ sent) => pattern.test(sent) };
}

/** @param {string} text */
const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
