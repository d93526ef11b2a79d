import { setTimeout as sleep } from 'node:timers/promises';
import { signalProcess } from '../../../infra/engine/processes.js';
import { samplesOf, shapeOf } from '../load/shapes.js';
import { startObserving } from '../measure/observe.js';
import { median } from '../measure/rounds.js';
import { figure, percent } from '../report/table.js';

/** @import { Part } from './index.js' */
/** @import { Shape } from '../load/shapes.js' */

/** Ten samples of one sensor. */
const LOAD = '1x10';

const LOOK_MS = 250;

/** Each phase in runs of a comparison; 20 s where one lasts 4. */
const PHASES = /** @type {const} */ ({ before: 5, halved: 5, after: 5 });

/** A window that follows: during the halving at most so much of what it was, and afterwards at least. */
const FALLS_TO = 0.8;

/**
 * The number of requests in flight when the database has half of its CPU for a while: it must fall, and come back.
 *
 * @type {Part<Result>}
 */
export const pressure = {
  name: 'pressure',
  title: `The database with half of its CPU for a while, load ${LOAD}: the window of requests in flight`,

  async run({ environment, flags, status }) {
    const shape = /** @type {Shape} */ (shapeOf(LOAD));
    const pipeline = await environment.pipeline('packed');
    const began = performance.now();
    /** @type {Look[]} */
    const looks = [];
    const observed = await startObserving({ ...pipeline.pids, database: environment.database });

    /** @param {keyof typeof PHASES} phase */
    async function watch(phase) {
      status(phase);
      const end = performance.now() + PHASES[phase] * flags.runMs;
      while (performance.now() < end) {
        const metric = await pipeline.metrics();
        const seconds = (performance.now() - began) / 1000;
        looks.push({
          phase,
          seconds,
          window: metric('iot_ingest_window'),
          samples: metric('iot_ingest_samples_total'),
        });
        await sleep(LOOK_MS);
      }
    }

    const first = await pipeline.committed();
    await pipeline.begin(shape);
    try {
      while ((await pipeline.committed()) - first < shape.devices * samplesOf(shape)) await sleep(LOOK_MS);
      await sleep(flags.warmMs);
      await watch('before');
      const release = halve(environment.database);
      try {
        await watch('halved');
      } finally {
        release();
      }
      await watch('after');
    } finally {
      await pipeline.end();
    }
    const { steal, others } = await observed();
    return { looks, steal, others };
  },

  tables({ looks, steal, others }) {
    const phases = /** @type {Array<keyof typeof PHASES>} */ (Object.keys(PHASES));
    const windows = phases.map((phase) => settledWindow(looks, phase));
    const [before = Number.NaN, halved = Number.NaN, after = Number.NaN] = windows;
    return [
      {
        head: ['', ...phases],
        rows: [
          ['window, median of the second half of the phase', ...windows.map((window) => figure(window))],
          ['thousand samples/s', ...phases.map((phase) => figure(rateIn(looks, phase) / 1000))],
          ['fell', '', halved <= before * FALLS_TO ? 'yes' : 'no', ''],
          ['came back', '', '', after >= before * FALLS_TO ? 'yes' : 'no'],
          ['steal, others', percent(steal), percent(others), ''],
        ],
      },
    ];
  },
};

/** @typedef {{ phase: keyof typeof PHASES, seconds: number, window: number, samples: number }} Look */

/** @typedef {{ looks: Look[], steal: number, others: number }} Result */

/** @param {Look[]} looks @param {keyof typeof PHASES} phase @returns {number} once it has had time to follow */
function settledWindow(looks, phase) {
  const own = looks.filter((look) => look.phase === phase);
  return median(own.slice(own.length >> 1).map(({ window }) => window));
}

/** @param {Look[]} looks @param {keyof typeof PHASES} phase @returns {number} samples/s */
function rateIn(looks, phase) {
  const own = looks.filter((look) => look.phase === phase);
  const first = own[0];
  const last = own.at(-1);
  return first && last ? (last.samples - first.samples) / (last.seconds - first.seconds) : Number.NaN;
}

/** The process rests for so long, then works for so long, in ms. */
const TURN_MS = 5;

/**
 * Halves the CPU of a process, honestly: all of its threads stand still for half of the time.
 *
 * @param {number} pid
 * @returns {() => void} lets go
 */
function halve(pid) {
  let resting = false;
  const timer = setInterval(() => {
    resting = !resting;
    signalProcess(pid, resting ? 'SIGSTOP' : 'SIGCONT');
  }, TURN_MS);
  return () => {
    clearInterval(timer);
    signalProcess(pid, 'SIGCONT');
  };
}
