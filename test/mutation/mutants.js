import { parse } from '@babel/parser';
import { replacementsOf } from './operators.js';

/** @import { Node } from '@babel/types' */

/**
 * One deliberate mistake.
 *
 * @typedef {object} Mutant
 * @property {string} file relative to the checkout
 * @property {number} start offset in the source, in UTF-16 units
 * @property {number} end offset after the last replaced character
 * @property {string} replacement
 * @property {number} line 1-based
 * @property {string} before the changed lines, as one line of text
 * @property {string} after the same lines with the mistake
 */

/**
 * Lists every mistake that the operators can make in a file, in the order of the source.
 *
 * @param {string} file relative to the checkout, for the result
 * @param {string} source
 * @returns {Mutant[]}
 * @throws {SyntaxError} if the source is not an ES module
 */
export function mutantsOf(file, source) {
  /** @type {Map<string, Mutant>} */
  const mutants = new Map();
  walk(parse(source, { sourceType: 'module' }).program, [], (node, ancestors) => {
    for (const { start, end, text } of replacementsOf(node, ancestors, source)) {
      if (source.slice(start, end) === text) continue;
      mutants.set(`${start}:${end}:${text}`, describeMutant({ file, start, end, replacement: text }, source));
    }
  });
  return [...mutants.values()].sort((a, b) => a.start - b.start || a.end - b.end);
}

/** @param {Pick<Mutant, 'start' | 'end' | 'replacement'>} mutant @param {string} source @returns {string} */
export const applied = ({ start, end, replacement }, source) =>
  source.slice(0, start) + replacement + source.slice(end);

/** @param {Pick<Mutant, 'file' | 'start' | 'end' | 'replacement'>} mutant @param {string} source @returns {Mutant} */
function describeMutant(mutant, source) {
  const first = source.lastIndexOf('\n', mutant.start - 1) + 1;
  const newline = source.indexOf('\n', mutant.end);
  const last = newline === -1 ? source.length : newline;
  const [head, tail] = [source.slice(first, mutant.start), source.slice(mutant.end, last)];
  return {
    ...mutant,
    line: source.slice(0, mutant.start).split('\n').length,
    before: oneLine(source.slice(first, last)),
    after: oneLine(head + mutant.replacement + tail),
  };
}

/** Joins lines, because white space depends on the formatter and does not matter for a mistake. @param {string} text */
export const oneLine = (text) => text.replaceAll(/\s+/g, ' ').trim();

/**
 * @param {Node} node
 * @param {Node[]} ancestors nearest first
 * @param {(node: Node, ancestors: Node[]) => void} visit
 */
function walk(node, ancestors, visit) {
  visit(node, ancestors);
  const inner = [node, ...ancestors];
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string' && typeof child.start === 'number' && !isComment(child))
        walk(child, inner, visit);
    }
  }
}

/** @param {{ type: string }} node */
const isComment = ({ type }) => type === 'CommentBlock' || type === 'CommentLine';
