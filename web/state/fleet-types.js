/**
 * @typedef {object} FleetDevice
 * @property {string} id
 * @property {string} name its id where it has none
 * @property {string | null} site
 * @property {boolean} offline
 * @property {FleetSensor[]} sensors
 * @property {boolean} isInOrder its sensors stand in the order of their names
 *
 * @typedef {object} FleetSensor one record for as long as the page is open, changed in place: ten thousand values a second make no garbage
 * @property {string} key
 * @property {string} id
 * @property {FleetDevice} device
 * @property {string} name its id where it has none
 * @property {string | null} type
 * @property {string | null} unit
 * @property {string} ts as the API writes it; empty before the first sample
 * @property {number} at the same, epoch ms; 0 before the first sample
 * @property {number} value NaN before the first sample
 * @property {number} gapMs between values, as seen; 0 while that is not known
 * @property {Range} range
 * @property {number} score how far off the value is, in spreads; see deviation.js
 * @property {number} look which of the looks of looks.js its cell has
 * @property {boolean} dirty it is among those to be drawn
 * @property {number} cell its number on the wall; -1: none
 *
 * @typedef {{ type?: string | null, site?: string | null }} Narrowing of a fleet that is too large to be held
 *
 * @typedef {object} Review what there is to say of the fleet as a whole
 * @property {FleetSensor[]} far those that stand out, the furthest first
 * @property {FleetSensor[]} silent those that are silent while their device is there, the longest first
 * @property {FleetDevice[]} offline devices
 * @property {number} farCount
 * @property {number} silentCount
 * @property {number} learning
 * @property {number} offlineSensors
 */

/** @import { Range } from './baseline.js' */

export {};
