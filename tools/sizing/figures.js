import { readFile } from 'node:fs/promises';

/** @import { Figures } from '../bench/figures.js' */

const FIGURES = new URL('../bench/figures.json', import.meta.url);

/** @returns {Promise<Figures>} what the bench measured, as npm run bench:readme wrote it */
export async function readFigures() {
  return JSON.parse(await readFile(FIGURES, 'utf8'));
}
