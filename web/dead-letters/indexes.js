/** @import { Refusal } from '../api/types.js' */

/**
 * @param {Refusal[]} refused
 * @returns {Map<string, number[]>} by code, in the order in which the codes come
 */
export function indexesByCode(refused) {
  /** @type {Map<string, number[]>} */
  const byCode = new Map();
  for (const { index, code } of refused) byCode.set(code, [...(byCode.get(code) ?? []), index]);
  return byCode;
}

/**
 * @param {Refusal[]} refused
 * @param {string} code
 * @param {number} limit
 * @returns {string[]} which field breaks which rule, `[2].value: must be a number`; each text once, the first of them
 */
export function reasonsOf(refused, code, limit) {
  /** @type {Set<string>} */
  const texts = new Set();
  for (const refusal of refused) {
    if (texts.size === limit) break;
    if (refusal.code === code && refusal.rule) {
      texts.add(refusal.path ? `${refusal.path}: ${refusal.rule}` : refusal.rule);
    }
  }
  return [...texts];
}

/** @param {number[]} indexes ascending; -1 is the message as a whole @returns {string} `[0]–[5], [7]` */
export function indexText(indexes) {
  if (indexes.includes(-1)) return 'the whole message';
  /** @type {[first: number, last: number][]} */
  const runs = [];
  for (const index of indexes) {
    const run = runs.at(-1);
    if (run && run[1] === index - 1) run[1] = index;
    else runs.push([index, index]);
  }
  return runs.map(([first, last]) => (first === last ? `[${first}]` : `[${first}]–[${last}]`)).join(', ');
}
