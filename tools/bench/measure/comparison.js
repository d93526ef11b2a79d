import { shapeOf } from '../load/shapes.js';
import { measureRate } from './rate.js';
import { alternate } from './rounds.js';
import { sweep } from './sweep.js';

/** @import { Context } from '../context.js' */
/** @import { Shape } from '../load/shapes.js' */
/** @import { Contender } from '../stand/line.js' */
/** @import { Rate } from './rate.js' */
/** @import { Round } from './rounds.js' */
/** @import { Sweep } from './sweep.js' */

/** A try of a sweep is so much shorter than a run. */
const SWEEP_PART = 1 / 3;

/**
 * Contenders at one load: what each baseline's sweep found, and the rounds.
 *
 * @template {string} Name
 * @typedef {object} Comparison
 * @property {string} shape
 * @property {Partial<Record<Name, Sweep>>} sweeps
 * @property {Round<Name, Rate>[]} rounds
 */

/**
 * Measures contenders side by side at one load after the other, each as fast as it can.
 *
 * @template {string} Name
 * @param {Context} context
 * @param {object} options
 * @param {string[]} options.loads
 * @param {Record<Name, Contender>} options.contenders
 * @param {NoInfer<Name>[]} options.swept those whose requests in flight are fixed, at their best number
 * @returns {Promise<Comparison<Name>[]>}
 */
export async function compare({ stand, flags, status }, { loads, contenders, swept }) {
  const names = /** @type {Name[]} */ (Object.keys(contenders));
  const timing = { database: stand.database, warmMs: flags.warmMs, forMs: flags.runMs };
  const short = { ...timing, warmMs: timing.warmMs * SWEEP_PART, forMs: timing.forMs * SWEEP_PART };

  /** @param {string} load @param {Name} name */
  const sweepOne = (load, name) =>
    sweep({
      candidates: flags.inFlight,
      measure: async (inFlight) => {
        status(`${load}, ${name}: how many requests in flight are best? ${inFlight}`);
        await contenders[name].inFlight(inFlight);
        return (await measureRate(contenders[name], loadOf(load), short)).rate;
      },
    });

  /** @type {Comparison<Name>[]} */
  const done = [];
  for (const load of loads) {
    /** @type {Comparison<Name>['sweeps']} */
    const sweeps = {};
    for (const name of swept) {
      const found = await sweepOne(load, name);
      await contenders[name].inFlight(found.best);
      sweeps[name] = found;
    }
    // A sweep warms its contender for this load; the others must not start colder.
    for (const name of names.filter((one) => !swept.includes(one))) {
      status(`${load}, ${name}: warming up`);
      await measureRate(contenders[name], loadOf(load), timing);
    }
    const rounds = await alternate({
      names,
      rounds: flags.rounds,
      measure: (name) => measureRate(contenders[name], loadOf(load), timing),
      onStatus: (text) => status(`${load}, ${text}`),
    });
    done.push({ shape: load, sweeps, rounds });
  }
  return done;
}

/** @param {string} name of a load that the flags have let through */
const loadOf = (name) => /** @type {Shape} */ (shapeOf(name));
