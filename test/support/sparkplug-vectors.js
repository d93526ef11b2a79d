import { readFileSync } from 'node:fs';

/** When the vectors' node was born, in epoch ms; data follows a second apart. */
export const T0 = 1_748_736_000_000;

/** Between the vectors' first births and their second, in ms. */
export const LATER = 3_600_000;

/** Messages that another implementation has encoded: see `test/vectors/sparkplug.py`. @type {Record<string, string | string[]>} */
const VECTORS = JSON.parse(readFileSync(new URL('../vectors/sparkplug.json', import.meta.url), 'utf8'));

/** @param {string} name @param {number} [at] which of several @returns {Buffer} */
export function vector(name, at = 0) {
  const hex = [VECTORS[name]].flat()[at];
  if (hex === undefined) throw new Error(`there is no vector ${name} ${at}`);
  return Buffer.from(hex, 'hex');
}

/** How many messages follow each other under that name. @param {string} name */
export const countOf = (name) => [VECTORS[name]].flat().length;
