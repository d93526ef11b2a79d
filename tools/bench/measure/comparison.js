import { shapeOf } from '../load/shapes.js';
import { measureRate } from './rate.js';
import { alternate } from './rounds.js';

/** @import { Variant } from '../environment/pipeline.js' */
/** @import { Context } from '../context.js' */
/** @import { Rate } from './rate.js' */
/** @import { Round } from './rounds.js' */
/** @import { Shape } from '../load/shapes.js' */

/** A try of a sweep is so much shorter than a run. */
const SWEEP_PART = 1 / 3;

/**
 * Variants at one load: what each baseline's sweep found, and the rounds.
 *
 * @template {string} Name
 * @typedef {object} Comparison
 * @property {string} shape
 * @property {Partial<Record<Name, Sweep>>} sweeps
 * @property {Round<Name, Rate>[]} rounds
 */

/**
 * Measures variants side by side at one load after the other, each as fast as it can.
 *
 * @template {string} Name
 * @param {Context} context
 * @param {object} options
 * @param {string[]} options.loads
 * @param {Record<Name, Variant>} options.variants
 * @param {NoInfer<Name>[]} options.swept those whose requests in flight are fixed, at their best number
 * @returns {Promise<Comparison<Name>[]>}
 */
export async function compare({ environment, flags, status }, { loads, variants, swept }) {
  const names = /** @type {Name[]} */ (Object.keys(variants));
  const timing = { database: environment.database, warmMs: flags.warmMs, forMs: flags.runMs };
  const short = { ...timing, warmMs: timing.warmMs * SWEEP_PART, forMs: timing.forMs * SWEEP_PART };

  /** @param {string} load @param {Name} name */
  const sweepOne = (load, name) =>
    sweep({
      candidates: flags.inFlight,
      measure: async (inFlight) => {
        status(`${load}, ${name}: how many requests in flight are best? ${inFlight}`);
        await variants[name].inFlight(inFlight);
        return (await measureRate(variants[name], loadOf(load), short)).rate;
      },
    });

  /** @type {Comparison<Name>[]} */
  const done = [];
  for (const load of loads) {
    /** @type {Comparison<Name>['sweeps']} */
    const sweeps = {};
    for (const name of swept) {
      const found = await sweepOne(load, name);
      await variants[name].inFlight(found.best);
      sweeps[name] = found;
    }
    // A sweep warms its variant for this load; the others must not start colder.
    for (const name of names.filter((one) => !swept.includes(one))) {
      status(`${load}, ${name}: warming up`);
      await measureRate(variants[name], loadOf(load), timing);
    }
    const rounds = await alternate({
      names,
      rounds: flags.rounds,
      measure: (name) => measureRate(variants[name], loadOf(load), timing),
      onStatus: (text) => status(`${load}, ${text}`),
    });
    done.push({ shape: load, sweeps, rounds });
  }
  return done;
}

/** @param {string} name of a load that the flags have let through */
const loadOf = (name) => /** @type {Shape} */ (shapeOf(name));

/**
 * Finds the number of requests in flight at which a baseline is fastest.
 *
 * @param {object} options
 * @param {number[]} options.candidates
 * @param {(inFlight: number) => Promise<number>} options.measure samples/s with that many
 * @returns {Promise<Sweep>}
 */
export async function sweep({ candidates, measure }) {
  /** @type {Sweep['tried']} */
  const tried = [];
  for (const inFlight of candidates) tried.push({ inFlight, rate: await measure(inFlight) });
  const best = tried.reduce((leader, one) => (one.rate > leader.rate ? one : leader));
  return { tried, best: best.inFlight };
}

/** @typedef {{ tried: Array<{ inFlight: number, rate: number }>, best: number }} Sweep */
