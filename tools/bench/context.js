/**
 * The context in which a part of the benchmark runs.
 *
 * @typedef {object} Context
 * @property {Environment} environment
 * @property {BenchFlags} flags
 * @property {(text: string) => void} status shows what is being measured
 * @property {(partial: unknown) => void} [keep] writes the results so far into the raw file, in case the rest fails
 */

/** @import { Environment } from './environment/index.js' */

export {};

/**
 * @typedef {object} BenchFlags
 * @property {string[]} only names of parts
 * @property {string[]} shapes
 * @property {number} rounds
 * @property {number} runMs
 * @property {number} warmMs before each run, once its load is on
 * @property {number} watchMs of an open dashboard
 * @property {number[]} inFlight requests in flight that a baseline is tried with
 * @property {number} bootMs of load before anything is measured
 * @property {Array<'K' | 'P'>} [classes] of the peers
 * @property {boolean} [quick] a look in a few minutes
 */
