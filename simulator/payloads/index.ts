import { encodePlainJson } from './plain-json.js';
import { encodeSenml } from './senml.js';

/** @typedef {{ ts: number, value: number }} Sample `ts` in epoch ms */

/**
 * The samples of one sensor in a message.
 *
 * @typedef {object} Series
 * @property {string} name of the sensor
 * @property {string} [unit]
 * @property {Sample[]} samples
 */

/** Functions that encode a batch as the payload of a message. @type {Record<string, (series: Series[]) => string>} */
export const ENCODERS = { senml: encodeSenml, json: encodePlainJson };

/** @param {Series[]} series @returns {number} */
export const countSamples = (series) => series.reduce((sum, { samples }) => sum + samples.length, 0);
