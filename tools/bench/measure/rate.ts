import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.js';
import { loadOf, samplesOf } from '../load/shapes.js';
import { startObserving } from './machine.js';
import { alternate, median } from './rounds.js';

/** @import { Context } from '../environment/index.js' */
/** @import { Variant } from '../environment/pipeline.js' */
/** @import { Shape } from '../load/shapes.js' */
/** @import { Round } from './rounds.js' */

/** Pause between two checks whether every device is registered, in ms. */
const LOOK_MS = 250;

/** If a variant commits nothing for this time while devices register, in ms, the measurement fails. */
const STUCK_MS = 60_000;

/**
 * The rate at which a variant committed a load, and the CPU time that it took.
 *
 * @typedef {object} Rate
 * @property {number} rate committed samples/s
 * @property {Record<string, number>} cpu CPU µs per sample by process name; `database` is one of the names
 * @property {number} steal share of the machine's CPU time that the host took away, 0 to 1
 * @property {number} others share of the machine's CPU time that processes outside the bench used, 0 to 1
 */

/**
 * Measures the rate at which a variant commits a load.
 *
 * @param {Variant} variant
 * @param {Shape} shape
 * @param {{ database: number, warmMs: number, forMs: number, stuckMs?: number }} options `database`: pid of the database
 * @returns {Promise<Rate>}
 * @throws {MillraceError} `failed`: the variant commits nothing
 */
export async function measureRate(variant, shape, { database, warmMs, forMs, stuckMs = STUCK_MS }) {
  const first = await variant.committed();
  await variant.begin(shape);
  try {
    await untilRegistered(variant, first + shape.devices * samplesOf(shape), stuckMs);
    await sleep(warmMs);
    const observed = await startObserving({ ...variant.pids, database });
    const before = await variant.committed();
    await sleep(forMs);
    const samples = (await variant.committed()) - before;
    const { seconds, cpu, steal, others } = await observed();
    return {
      rate: samples / seconds,
      cpu: Object.fromEntries(Object.entries(cpu).map(([name, used]) => [name, (used * 1e6) / samples])),
      steal,
      others,
    };
  } finally {
    await variant.end();
  }
}

/**
 * Waits until the first message of each device has registered it. Registration is not measured.
 *
 * @param {Variant} variant
 * @param {number} wanted number of committed samples to wait for
 * @param {number} stuckMs
 * @throws {MillraceError} `failed`: nothing was committed for `stuckMs`
 */
async function untilRegistered(variant, wanted, stuckMs) {
  let moved = { at: performance.now(), committed: 0 };
  for (;;) {
    const committed = await variant.committed();
    if (committed >= wanted) return;
    const now = performance.now();
    if (committed > moved.committed) moved = { at: now, committed };
    else if (now - moved.at > stuckMs)
      throw new MillraceError('failed', `${variant.name} committed nothing for ${stuckMs / 1000} s.`);
    await sleep(LOOK_MS);
  }
}

/** Number of times that the highest rate is measured, for a part that runs at a share of it. */
const TIMES = 2;

/**
 * Measures the highest rate at which a variant commits a load.
 *
 * @param {Variant} variant
 * @param {Shape} shape
 * @param {Pick<Context, 'environment' | 'flags'>} context
 * @returns {Promise<number>} the median of the measured rates, samples/s
 */
export async function measurePeak(variant, shape, { environment, flags }) {
  const timing = { database: environment.database, warmMs: flags.warmMs * 2, forMs: flags.runMs };
  const rates = [];
  for (let time = 0; time < TIMES; time++) rates.push((await measureRate(variant, shape, timing)).rate);
  // A stall may last longer than a short run and give a rate of 0. Nothing can be published at a rate of 0.
  return Math.max(1, median(rates));
}

/** Length of one measurement of a sweep, as a share of a run. */
export const SWEEP_PART = 1 / 3;

/**
 * A comparison of variants at one load: the result of each baseline's sweep, and the rounds.
 *
 * @template {string} Name
 * @typedef {object} Comparison
 * @property {string} shape
 * @property {Partial<Record<Name, { best: number }>>} sweeps best number of requests in flight by baseline
 * @property {Round<Name, Rate>[]} rounds
 */

/**
 * Measures variants side by side at several loads, each variant as fast as it can commit.
 *
 * @template {string} Name
 * @param {Context} context
 * @param {object} options
 * @param {string[]} options.loads
 * @param {Record<Name, Variant>} options.variants
 * @param {NoInfer<Name>[]} options.swept variants with a fixed number of requests in flight; a sweep finds their best number
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
    // A sweep warms its variant for this load. So the other variants are warmed too.
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

/**
 * Finds the candidate with the highest rate.
 *
 * @template C
 * @param {object} options
 * @param {C[]} options.candidates
 * @param {(candidate: C) => Promise<number>} options.measure returns samples/s with a candidate
 * @returns {Promise<{ tried: Array<{ candidate: C, rate: number }>, best: C }>}
 */
export async function sweep({ candidates, measure }) {
  const tried = [];
  for (const candidate of candidates) tried.push({ candidate, rate: await measure(candidate) });
  const { candidate: best } = tried.reduce((leader, one) => (one.rate > leader.rate ? one : leader));
  return { tried, best };
}

/** @param {Rate} rate @returns {number} CPU µs per sample of ingest and database together */
export const cpuOfBoth = ({ cpu }) => Number(cpu['ingest']) + Number(cpu['database']);
