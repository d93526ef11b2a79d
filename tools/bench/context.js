/**
 * The context in which a part of the benchmark runs.
 *
 * @typedef {object} Context
 * @property {Environment} environment
 * @property {BenchFlags} flags
 * @property {(text: string) => void} status shows what is being measured
 * @property {(partial: unknown) => void} [keep] writes the results so far into the raw file, in case the rest fails
 */

/** @import { BenchFlags } from './flags.js' */
/** @import { Environment } from './environment/index.js' */

export {};
