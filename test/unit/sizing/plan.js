import { readFileSync } from 'node:fs';
import { readFlags } from '../../../sizing/flags.js';

/** @type {import('../../../bench/report/figures.js').Figures} what the bench measured */
export const FIGURES = JSON.parse(
  readFileSync(new URL('../../../bench/figures.json', import.meta.url), 'utf8'),
);

/** @param {string} flags as typed behind npm run size -- */
export const planOf = (flags = '') => readFlags(flags === '' ? [] : flags.split(' '));
