import { loadOf, samplesOf } from '../load/shapes.js';
import { withShares } from '../measure/machine.js';
import { measureRate, SWEEP_PART, sweep } from '../measure/rate.js';
import { alternate } from '../measure/rounds.js';
import { KNOWN_TUNING, TUNINGS } from './settings.js';

/** @import { Context } from '../environment/index.js' */
/** @import { Rate } from '../measure/rate.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Name, Rival } from './pipelines.js' */
/** @import { Tuning } from './settings.js' */

/**
 * The result of one load: the best tuning of Telegraf, and the rounds.
 *
 * @typedef {object} ShapeRates
 * @property {string} shape
 * @property {Partial<Record<Name, { best: Tuning }>>} sweeps
 * @property {Round<Name, Rate>[]} rounds
 */

/**
 * Measures the highest rate of each pipeline at its best tuning. The pipelines run in turns.
 *
 * @param {Context} context
 * @param {Rival[]} rivals
 * @returns {Promise<ShapeRates[]>}
 */
export async function measureRates({ flags, status }, rivals) {
  const timing = { warmMs: flags.warmMs, forMs: flags.runMs };
  const tunings = flags.quick ? [KNOWN_TUNING] : TUNINGS;
  /** @type {ShapeRates[]} */
  const done = [];
  for (const shape of flags.shapes) {
    /** @type {ShapeRates['sweeps']} */
    const sweeps = {};
    for (const rival of rivals.filter(({ tunable }) => tunable && tunings.length > 1)) {
      const short = { warmMs: timing.warmMs * SWEEP_PART, forMs: timing.forMs * SWEEP_PART };
      sweeps[rival.name] = await sweep({
        candidates: tunings,
        measure: async (tuning) => {
          status(`${shape}, ${rival.name}: ${tuning.undelivered} undelivered, batches of ${tuning.batch}`);
          return (await measureOne(rival, shape, tuning, short)).rate;
        },
      });
    }
    const rounds = await alternate({
      names: rivals.map(({ name }) => name),
      rounds: flags.rounds,
      ...(flags.quick && { mostRepeats: 0 }),
      measure: (name) => measureOne(byName(rivals, name), shape, bestOf(sweeps, name), timing),
      onStatus: (text) => status(`${shape}, ${text}`),
    });
    done.push({ shape, sweeps, rounds });
  }
  return done;
}

/**
 * Runs all pipelines for a while before anything is measured, because a fresh JVM is several times slower than a warm JVM.
 *
 * @param {Context} context
 * @param {Rival[]} rivals
 */
export async function warmUp({ flags, status }, rivals) {
  const loads = ['1x60', '1x1'];
  for (const rival of rivals) {
    for (const load of loads) {
      status(`warming up: ${rival.name}, ${load}`);
      const timing = { warmMs: flags.bootMs / loads.length / 2, forMs: 100 };
      await measureOne(rival, load, KNOWN_TUNING, timing);
    }
  }
}

/** The load at which latencies and reads are measured, which is the simulator's collar. */
export const STEADY_LOAD = '4x10';

/**
 * Measures latencies from the intended publish to the acknowledgement of the subscriber. All pipelines run at the same rate.
 *
 * @param {Context} context
 * @param {Rival[]} rivals
 * @param {number} rate samples/s
 */
export async function measureLatencies({ flags, status }, rivals, rate) {
  /** @param {Rival} rival @param {number} forMs */
  async function paceOne({ format, wired }, forMs) {
    const shape = { ...loadOf(STEADY_LOAD), format };
    const pace = await wired(KNOWN_TUNING, samplesOf(shape));
    return withShares({}, async () => (await pace(shape, { rate, forMs })).latency.published);
  }
  for (const rival of rivals) {
    status(`latency: warming up ${rival.name}`);
    await paceOne(rival, flags.warmMs);
  }
  return alternate({
    names: rivals.map(({ name }) => name),
    rounds: flags.rounds,
    ...(flags.quick && { mostRepeats: 0 }),
    measure: (name) => paceOne(byName(rivals, name), flags.runMs),
    onStatus: (text) => status(`latency, ${text}`),
  });
}

/** @param {Rival} rival @param {string} load @param {Tuning} tuning @param {{ warmMs: number, forMs: number }} timing */
async function measureOne(rival, load, tuning, timing) {
  const shape = { ...loadOf(load), format: rival.format };
  const line = await rival.line(tuning, samplesOf(shape));
  return measureRate(line, shape, { database: rival.databasePid(), ...timing });
}

/** @param {ShapeRates['sweeps']} sweeps @param {Name} name */
export const bestOf = (sweeps, name) => sweeps[name]?.best ?? KNOWN_TUNING;

/** @param {Rival[]} rivals @param {Name} name */
export const byName = (rivals, name) => /** @type {Rival} */ (rivals.find((rival) => rival.name === name));
