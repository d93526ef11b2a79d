import { readFileSync } from 'node:fs';
import { readFlags } from '../../../../tools/sizing/flags.js';

/** @import { Figures } from '../../../../tools/bench/documents.js' */

/** @type {Figures} what the bench measured */
export const FIGURES = JSON.parse(
  readFileSync(new URL('../../../../tools/bench/figures.json', import.meta.url), 'utf8'),
);

/** @param {string} flags as typed behind npm run size -- */
export const planOf = (flags = '') => readFlags(flags === '' ? [] : flags.split(' '));
