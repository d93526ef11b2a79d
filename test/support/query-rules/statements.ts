import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * A statement in a source file.
 *
 * @typedef {object} WrittenStatement
 * @property {string} file
 * @property {string} cql with `${...}` for words that a function inserts
 * @property {(cql: string) => boolean} isSent whether a sent text is this statement
 */

const LITERAL =
  /'((?:SELECT|INSERT|UPDATE|DELETE) [^']*)'|"((?:SELECT|INSERT|UPDATE|DELETE) [^"]*)"|`([^`]+)`/g;
const CONSTANT = /const (\w+) =\s+(?:'([^']*)'|"([^"]*)"|`([^`]*)`)/g;
const PLACE = /\$\{(\w+)\}/g;

/**
 * Lists every statement in the sources of some folders, to find those that are never sent. A constant that
 * is inserted into other statements is not a statement itself.
 *
 * @param {string[]} folders
 * @returns {WrittenStatement[]}
 */
export function statementsOf(folders) {
  return folders
    .flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
    )
    .filter((file) => /\.[jt]s$/.test(file))
    .flatMap((file) => statementsIn(readFileSync(file, 'utf8')).map((cql) => ({ file, ...written(cql) })));
}

/** @param {string} source @returns {string[]} CQL */
export function statementsIn(source) {
  const constants = Object.fromEntries(
    [...source.matchAll(CONSTANT)].map(([, name, a, b, c]) => [name, a ?? b ?? c ?? '']),
  );
  const fragments = new Set([...source.matchAll(PLACE)].map(([, name = '']) => constants[name]));
  const found = [...source.matchAll(LITERAL)]
    .map(([, a, b, c]) => a ?? b ?? c ?? '')
    .filter((text) => !fragments.has(text))
    .map((text) => text.replaceAll(PLACE, (place, name) => constants[name] ?? place))
    .filter((text) => /^(SELECT|INSERT|UPDATE|DELETE) /.test(text));
  return [...new Set(found)];
}

/** @param {string} cql */
function written(cql) {
  const pattern = new RegExp(
    `^${cql
      .split(PLACE)
      .map((piece, index) => (index % 2 ? '[\\w ]*' : escaped(piece)))
      .join('')}$`,
  );
  return { cql, isSent: (/** @type {string} */ sent) => pattern.test(sent) };
}

/** @param {string} text */
const escaped = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
