/** @import { Random } from '../random.js' */

/**
 * A kind of measurement with the function that generates its values.
 *
 * @typedef {object} Signal
 * @property {string} type
 * @property {string} unit unit symbol that SenML registers (RFC 8428, section 12.1)
 * @property {[number, number]} range lowest and highest possible value
 * @property {(random: Random, intervalMs: number, device: () => Random) => () => number} create
 *   returns a function that returns one value per measurement. The values depend only on the random numbers and the interval, not
 *   on the time of day. `device` returns a generator of the random numbers that all sensors of a device share
 */
