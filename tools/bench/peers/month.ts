import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf, DAY_MS, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.js';
import { deviceName, lineOf, sensorName, tagOf } from '../load/payloads.js';
import { loadOf, samplesOf } from '../load/shapes.js';
import { build } from '../loader/build.js';
import { fleetOf, samplesOfHour } from '../loader/data-set.js';
import { withShares } from '../measure/machine.js';
import { alternate } from '../measure/rounds.js';
import { tableBytes } from '../measure/stored.js';
import { createHttpReader } from '../reading/http.js';
import { readRepeatedly } from '../reading/kinds.js';
import { OURS, openOurs } from './pipelines.js';
import { byName, STEADY_LOAD } from './rates.js';
import { KNOWN_TUNING } from './settings.js';

/** @import { Context } from '../environment/index.js' */
/** @import { PeerDatabase } from './database.js' */
/** @import { Name, Rival } from './pipelines.js' */

/** Time between two samples of a sensor, in ms. */
const INTERVAL_MS = 1000;
const QUICK_INTERVAL_MS = 30_000;

const DAYS = 30;
const BINS = 500;
const SENSORS = 4;
const LATEST = 100;

/** The recipe of the samples, which is the same for all pipelines. */
const RECIPE = { seed: 1, signal: /** @type {const} */ ('decimals'), jitterMs: 20 };

/**
 * Defines a month of samples of four sensors.
 *
 * @param {number} intervalMs time between two samples of a sensor
 * @param {number} now epoch ms
 */
export function monthOf(intervalMs, now) {
  const to = bucketOf(now) - PACK_DELAY_MS;
  const [device] = fleetOf({ seed: RECIPE.seed, devices: 1, sensors: SENSORS, groups: 1 });
  if (!device) throw new RangeError('a fleet of one device has one');
  const set = { ...RECIPE, intervalMs, from: to - DAYS * DAY_MS, to };
  return { device: device.name, sensors: device.sensors.map(({ name }) => name), set };
}

/** @typedef {ReturnType<typeof monthOf>} MonthSet */

/**
 * Writes the month into a peer, hour by hour.
 *
 * @param {PeerDatabase} database
 * @param {MonthSet} month
 * @param {(samples: number) => void} onProgress
 * @returns {Promise<number>} number of samples
 */
async function loadPeer(database, { device, sensors, set }, onProgress) {
  let samples = 0;
  for (let hour = set.from; hour < set.to; hour += HOUR_MS) {
    const lines = sensors.flatMap((sensor) => {
      const { times, values } = samplesOfHour(set, { device, sensor }, hour);
      return Array.from(times, (time, at) => lineOf(tagOf(device, sensor), time, Number(values[at])));
    });
    await database.write(`${lines.join('\n')}\n`);
    samples += lines.length;
    onProgress(samples);
  }
  return samples;
}

/**
 * Stores the same month in all databases. Measures bytes per sample on disk, and reads while devices publish.
 *
 * @param {Context} context
 * @param {object} options
 * @param {Rival[]} options.rivals
 * @param {PeerDatabase[]} options.databases
 * @param {number} options.rate samples/s that devices publish during the reads
 */
export async function measureMonth(context, { rivals, databases, rate }) {
  const { environment, flags, status } = context;
  const month = monthOf(flags.quick ? QUICK_INTERVAL_MS : INTERVAL_MS, Date.now());
  /** @type {Partial<Record<Name, number>>} */
  const bytes = {};
  for (const database of databases) {
    await database.clear();
    status(`a month into ${database.kind}`);
    const empty = await database.bytes(0);
    const samples = await loadPeer(database, month, (done) =>
      status(`a month into ${database.kind}: ${done}`),
    );
    status(`a month into ${database.kind}: merging`);
    bytes[database.kind] = ((await database.bytes(samples)) - empty) / samples;
  }
  const config = await environment.prepare(OURS);
  const { samples } = await build({
    config,
    fleet: { seed: RECIPE.seed, devices: 1, sensors: SENSORS },
    set: month.set,
    into: 'history',
    onProgress: (done) => status(`a month into ours: ${done}`),
  });
  status('a month into ours: compacting');
  const sizes = Object.values(await tableBytes(environment, config.cql.keyspace, HISTORY));
  bytes.millrace = sizes.reduce((sum, size) => sum + size, 0) / samples;
  return { samples, bytes, rate, rounds: await readMonth(context, { rivals, databases, rate, month }) };
}

/** The tables of packed hours. The messages that devices send during the reads are in other tables. */
const HISTORY = ['history', 'history_stat'];

/**
 * @param {Context} context
 * @param {Parameters<typeof measureMonth>[1] & { month: MonthSet }} options
 */
async function readMonth({ environment, flags, status }, { rivals, databases, rate, month }) {
  const ours = await openOurs(environment, { wired: false });
  const front = await environment.front(ours);
  const http = createHttpReader(front.url);
  const shape = loadOf(STEADY_LOAD);
  const { from, to } = month.set;
  const [sensor = ''] = month.sensors;
  const newest = Array.from({ length: LATEST }, (_, at) =>
    tagOf(deviceName(Math.floor(at / shape.sensors)), sensorName(at % shape.sensors)),
  );

  /** @param {Name} name */
  function readerOf(name) {
    const database = databases.find(({ kind }) => kind === name);
    if (database) {
      return {
        latest: () => database.latest(newest),
        series: () => database.series({ sensor: tagOf(month.device, sensor), from, to, bins: BINS }),
      };
    }
    const path = `/api/v1/devices/${month.device}/sensors/${sensor}`;
    return {
      latest: async () => (await http.json(`/api/v1/latest?limit=${LATEST}`)).items.length,
      series: async () =>
        (await http.json(`${path}/series?from=${from}&to=${to}&points=${BINS}`)).points.length,
    };
  }

  /** @param {Name} name */
  async function measure(name) {
    const rival = byName(rivals, name);
    const line = rival.tunable ? await rival.line(KNOWN_TUNING, samplesOf(shape)) : ours;
    const end = await line.hold({ ...shape, format: rival.format }, rate);
    try {
      await sleep(flags.warmMs + REGISTER_MS);
      const { latest, series } = readerOf(name);
      return await withShares({ ...line.pids, database: rival.databasePid() }, async () => ({
        latest: await readRepeatedly(latest, flags.runMs),
        series: await readRepeatedly(series, flags.runMs),
      }));
    } finally {
      await end();
    }
  }

  try {
    return await alternate({
      names: rivals.map(({ name }) => name),
      rounds: flags.rounds,
      ...(flags.quick && { mostRepeats: 0 }),
      measure,
      onStatus: (text) => status(`reading, ${text}`),
    });
  } finally {
    http.close();
    await environment.close(`${ours.name}-front`);
  }
}

/** Time for the registration of new devices by their first message, in ms. */
const REGISTER_MS = 1000;
