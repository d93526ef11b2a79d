import { medianOf } from './measure/rounds.js';

/** @import { ClassResult } from './peers/report.js' */
/** @import { Results } from './targets.js' */

/** Significant digits of a figure in the file. */
const DIGITS = 6;

/** Processes whose CPU counts; the publisher stands for the devices. */
const PROCESSES = /** @type {const} */ (['ingest', 'database', 'broker']);

/** CPU µs a sample by process, and samples/s acknowledged. @typedef {Record<'rate' | typeof PROCESSES[number], number>} Cost */

/** Bytes a sample on disk by table, compressed, with indexes and filters. @typedef {Record<string, number>} DiskFigures */

/**
 * A raw file of the bench.
 *
 * @typedef {object} Raw
 * @property {string} began ISO 8601; of several runs the days, with commas between
 * @property {string | null} [commit] whose code was measured, or `before COMMIT`; of several runs with commas between; missing: nobody noted it
 * @property {{ processors: number, model: string, memoryGiB: number, system: string, node: string }} machine
 * @property {{ quick?: boolean }} [flags] that it was run with
 * @property {Results & { peers?: ClassResult[] } & Record<string, unknown>} results
 */

/**
 * @typedef {object} Figures
 * @property {string} measured days, with commas between
 * @property {string | null} commit whose code was measured, or `before COMMIT`; null: nobody noted it
 * @property {{ processors: number, model: string }} machine
 * @property {Record<string, Record<'packed' | 'rows', Cost>>} throughput by load, as `4x10`
 * @property {Record<'decimals' | 'full', DiskFigures>} disk
 * @property {Record<'loaded' | 'alone', number>} packing hours of sensors/s that one process packs
 */

/**
 * The figures of a run that tools/sizing calculates with: medians over its rounds, the same that the page shows.
 *
 * @param {Raw} raw
 * @returns {Partial<Figures>} of the parts that were run
 */
export function figuresOf({ began, commit = null, machine, results: { throughput, disk, packing } }) {
  return {
    measured: began.replaceAll(/T[^,]*/g, ''),
    commit,
    machine: { processors: machine.processors, model: machine.model.trim() },
    ...(throughput && {
      throughput: Object.fromEntries(throughput.map((load) => [load.shape, costs(load)])),
    }),
    ...(disk && {
      disk: /** @type {Figures['disk']} */ (
        Object.fromEntries(disk.map(({ signal, samples, ...bytes }) => [signal, mapped(bytes)]))
      ),
    }),
    ...(packing && { packing: { loaded: perSecond(packing.loaded), alone: perSecond(packing.alone) } }),
  };
}

/** @param {NonNullable<Raw['results']['throughput']>[number]} load */
const costs = ({ rounds }) => {
  const of = (/** @type {'packed' | 'rows'} */ name) =>
    /** @type {Cost} */ ({
      rate: rounded(medianOf(rounds, (results) => results[name].rate)),
      ...Object.fromEntries(
        PROCESSES.map((process) => [
          process,
          rounded(medianOf(rounds, (results) => Number(results[name].cpu[process]))),
        ]),
      ),
    });
  return { packed: of('packed'), rows: of('rows') };
};

/** @param {Record<string, number>} bytes */
const mapped = (bytes) =>
  Object.fromEntries(Object.entries(bytes).map(([name, number]) => [name, rounded(number)]));

/** @param {{ hours: number, seconds: number }} phase */
const perSecond = ({ hours, seconds }) => rounded(hours / seconds);

/** @param {number} number */
const rounded = (number) => Number(number.toPrecision(DIGITS));
