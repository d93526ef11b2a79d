import { shapeOf } from '../load/shapes.js';
import { measureRate } from '../measure/rate.js';
import { alternate, medianOf } from '../measure/rounds.js';
import { stealOf } from '../report/steal.js';
import { figure } from '../report/table.js';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Rate } from '../measure/rate.js' */
/** @import { Round } from '../measure/rounds.js' */
/** @import { Part } from './index.js' */

/** The simulator's collar: four sensors a device. */
const LOAD = '4x10';

/** Devices, by how many sensors that is. */
const FLEETS = { '100 sensors': 25, '10,000 sensors': 2500, '100,000 sensors': 25_000 };

/** @typedef {keyof typeof FLEETS} Name */

const NAMES = /** @type {Name[]} */ (Object.keys(FLEETS));

/**
 * The same load from a few sensors, and from very many.
 *
 * @type {Part<Round<Name, Rate>[]>}
 */
export const fleet = {
  name: 'fleet',
  title: `From 100 to 100,000 sensors, load ${LOAD}`,

  async run({ environment, flags, status }) {
    const pipeline = await environment.pipeline('packed');
    const timing = { database: environment.database, warmMs: flags.warmMs, forMs: flags.runMs };
    /** @param {Name} name */
    const shape = (name) => /** @type {Shape} */ (shapeOf(LOAD, FLEETS[name]));
    status('registering 100,000 sensors');
    await measureRate(pipeline, shape('100,000 sensors'), { ...timing, forMs: 100 });
    return alternate({
      names: NAMES,
      rounds: flags.rounds,
      measure: (name) => measureRate(pipeline, shape(name), timing),
      onStatus: status,
    });
  },

  tables: (rounds) => [
    {
      head: ['', 'thousand samples/s', 'ingest µs', 'database µs', 'together, against 100', 'steal'],
      rows: NAMES.map((name) => [
        name,
        figure(medianOf(rounds, (results) => results[name].rate / 1000)),
        figure(medianOf(rounds, (results) => Number(results[name].cpu['ingest']))),
        figure(medianOf(rounds, (results) => Number(results[name].cpu['database']))),
        figure(medianOf(rounds, (results) => both(results[name]) / both(results['100 sensors']))),
        stealOf(rounds),
      ]),
    },
  ],
};

/** @param {Rate} rate */
const both = ({ cpu }) => Number(cpu['ingest']) + Number(cpu['database']);
