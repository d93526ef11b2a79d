import { mergeSeries } from '../../../schema/packed/series.js';
import { dayOf, HOUR_MS } from '../../../schema/rules.js';

/** @import { Series } from '../../../schema/packed/series.js' */
/** @import { HistoryReads } from '../../store/history/reads.js' */
/** @import { SampleReads } from '../../store/measurements/reads.js' */
/** @import { Hour, Sensor } from './hours.js' */

/**
 * Where samples are.
 *
 * @typedef {object} SampleSource
 * @property {Pick<HistoryReads, 'readSamples'>} packed
 * @property {Pick<SampleReads, 'readHour'>} samples
 */

/**
 * All samples of some hours, merged.
 *
 * @param {SampleSource} source
 * @param {Sensor} sensor
 * @param {Hour[]} hours in any order; all are read at once, those of one day with one request for what is packed
 * @param {number} [since] epoch ms: samples before it may be left out
 * @returns {Promise<Series[]>} one for each hour, sorted
 */
export async function readHours(source, sensor, hours, since = Number.NEGATIVE_INFINITY) {
  const days = new Map(hours.map(({ hour }) => [dayOf(hour), /** @type {Hour[]} */ ([])]));
  for (const hour of hours) days.get(dayOf(hour.hour))?.push(hour);
  const read = await Promise.all([...days.values()].map((day) => readDay(source, sensor, day, since)));
  const found = new Map(read.flat());
  return hours.map(({ hour }) => /** @type {Series} */ (found.get(hour)));
}

/** @param {SampleSource} source @param {Sensor} sensor @param {Hour[]} hours of one UTC day @param {number} since epoch ms @returns {Promise<Array<[hour: number, Series]>>} */
async function readDay(source, sensor, hours, since) {
  const starts = hours.map(({ hour }) => hour);
  const [packed, batches] = await Promise.all([
    source.packed.readSamples(sensor, Math.min(...starts), Math.max(...starts) + HOUR_MS),
    Promise.all(hours.map((hour) => readBatches(source, sensor, hour, since))),
  ]);
  return starts.map((hour, at) => [
    hour,
    mergeSeries([...(packed.get(hour) ?? []), .../** @type {Series[]} */ (batches[at])]),
  ]);
}

/** @param {SampleSource} source @param {Sensor} sensor @param {Hour} hour @param {number} since epoch ms @returns {Promise<Series[]>} */
const readBatches = async ({ samples }, { device, sensor }, { hour, packed }, since) =>
  packed ? [] : [await samples.readHour(device, sensor, hour, Math.max(hour, since))];
