import { collar } from './collar.js';
import { factory } from './factory.js';

/** @import { Random } from '../random.js' */
/** @import { Signal } from '../signals/index.js' */

/**
 * A kind of device.
 *
 * @typedef {object} Profile
 * @property {string} device what its devices are called, before their number
 * @property {{ least: number, most: number }} sensors of a device where nothing is said
 * @property {(random: Random, count: number | undefined) => NamedSignal[]} sensorsOf what a device
 *   measures; no count: as the profile has it
 */

/** @typedef {{ name: string, signal: Signal }} NamedSignal */

/** @type {Record<string, Profile>} */
export const PROFILES = { collar, factory };
