/** @import { Random } from '../random.js' */

/**
 * A kind of measurement and the function that makes its values.
 *
 * @typedef {object} Signal
 * @property {string} type
 * @property {string} unit as SenML registers it (RFC 8428, section 12.1)
 * @property {[number, number]} range no value is ever outside
 * @property {(random: Random, intervalMs: number, device: () => Random) => () => number} create
 *   gives a function that returns one value per measurement: the same for the same random numbers and interval, whatever the
 *   time of day. `device` starts the random numbers that all sensors of a device share
 */
