import { collar } from './collar.js';
import { factory } from './factory.js';

/**
 * A kind of device.
 *
 * @typedef {object} Profile
 * @property {string} device what its devices are called, before their number
 * @property {{ least: number, most: number }} sensors of a device where nothing is said
 * @property {(random: import('../random.js').Random, count: number | undefined) => NamedSignal[]} sensorsOf what a device
 *   measures; no count: as the profile has it
 */

/** @typedef {{ name: string, signal: import('../signals/index.js').Signal }} NamedSignal */

/** @type {Record<string, Profile>} */
export const PROFILES = { collar, factory };
