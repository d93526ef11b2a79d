import { join } from 'node:path';
import { readSettings } from '../../../common/settings/index.js';
import { startDatabase } from '../environment/database.js';
import { openEnvironment } from '../environment/index.js';
import { medianOf } from '../measure/rounds.js';
import { InfluxDb } from '../peers/influxdb.js';
import { killEach, ourTarget, peerTarget } from '../peers/kills.js';
import { measureMonth } from '../peers/month.js';
import { behindTelegraf, closeOurs, ourselves } from '../peers/pipelines.js';
import { QuestDb } from '../peers/questdb.js';
import { measureLatencies, measureRates, STEADY_LOAD, warmUp } from '../peers/rates.js';
import { peerTables } from '../peers/report.js';
import { ensurePrograms } from '../peers/tools.js';

/** @import { Context } from '../environment/index.js' */
/** @import { Part } from './index.js' */
/** @import { PeerDatabase } from '../peers/database.js' */
/** @import { Rival } from '../peers/pipelines.js' */
/** @import { ShapeRates } from '../peers/rates.js' */
/** @import { ClassResult } from '../peers/report.js' */
/** @import { Class } from '../peers/settings.js' */
/** @import { Programs } from '../peers/tools.js' */

/** Share of the slowest pipeline's highest rate. Latencies and reads are measured at this rate. */
const SHARE = 0.5;

/** Length of the load before the kill, and again after the restart, in ms. */
const KILL_RUN_MS = { quick: 1500, usual: 5000 };

/**
 * The processes that are killed in each durability class. Class K is for kills. Class P differs only in the databases, so only the
 * databases are killed.
 *
 * @type {Record<Class, { ours: string[], theirs: string[] }>}
 */
const VICTIMS = {
  K: { ours: ['ingest', 'Mosquitto', 'database'], theirs: ['Telegraf', 'Mosquitto', 'database'] },
  P: { ours: ['database'], theirs: ['database'] },
};

/**
 * Sends the same messages through the peers: Mosquitto, Telegraf, and QuestDB or InfluxDB, in two classes of durability.
 *
 * @type {Part<ClassResult[]>}
 */
export const peers = {
  name: 'peers',
  title: 'The peers: Telegraf with QuestDB and InfluxDB, side by side with Millrace',
  onRequest: true,

  async run(context) {
    const { environment, status } = context;
    const { dataDir } = readSettings();
    const programs = await ensurePrograms(join(dataDir, 'tools'), status);

    /** @type {ClassResult[]} */
    const classes = [];
    if (context.flags.classes?.includes('K')) {
      const killed = await QuestDb.open({
        dir: join(environment.dir, 'questdb-k'),
        programs,
        durability: 'K',
      });
      classes.push(await closing([killed], () => measureClass(context, 'K', [killed], programs)));
      context.keep?.(classes);
    }
    if (context.flags.classes?.includes('P')) classes.push(await measureDurable(context, dataDir, programs));
    return classes;
  },

  tables: peerTables,
};

/**
 * Measures class P with a separate Cassandra.
 *
 * @param {Context} context
 * @param {string} dataDir
 * @param {Programs} programs
 */
async function measureDurable(context, dataDir, programs) {
  const { status } = context;
  const dir = join(context.environment.dir, 'durable');
  const engineDir = join(dataDir, 'engine');
  const cassandra = await startDatabase({ dir, engineDir, durable: true, onStatus: status });
  return closing([cassandra], async () => {
    const environment = await openEnvironment({ dir, database: cassandra, onStatus: status });
    return closing([environment], async () => {
      const synced = [
        await QuestDb.open({ dir: join(dir, 'questdb-p'), programs, durability: 'P' }),
        await InfluxDb.open({ dir: join(dir, 'influxdb'), programs }),
      ];
      return closing(synced, () => measureClass({ ...context, environment }, 'P', synced, programs));
    });
  });
}

/**
 * Measures the pipelines in one durability class.
 *
 * @param {Context} context
 * @param {Class} durability
 * @param {PeerDatabase[]} databases
 * @param {Programs} programs
 * @returns {Promise<ClassResult>}
 */
async function measureClass(context, durability, databases, programs) {
  const { environment, flags } = context;
  const status = (/** @type {string} */ text) => context.status(`class ${durability}, ${text}`);
  const classContext = { ...context, status };
  const rivals = [
    ourselves(environment),
    ...databases.map((database) => behindTelegraf(environment, database, programs)),
  ];
  await warmUp(classContext, rivals);
  const rates = await measureRates(classContext, rivals);
  /** @type {ClassResult['unstored']} */
  const unstored = {};
  for (const database of databases) {
    unstored[database.kind] = (await database.counted()) - (await database.stored());
  }
  const rate = SHARE * slowestAt(rates, STEADY_LOAD, rivals);
  const latency = { rate, rounds: await measureLatencies(classContext, rivals, rate) };
  const month =
    durability === 'P' ? await measureMonth(classContext, { rivals, databases, rate }) : undefined;

  const forMs = flags.quick ? KILL_RUN_MS.quick : KILL_RUN_MS.usual;
  const { ours, theirs } = VICTIMS[durability];
  /** @type {ClassResult['kills']} */
  const kills = {};
  for (const database of databases) {
    const target = await peerTarget(environment, database, programs);
    kills[database.kind] = await killEach(target, { victims: theirs, forMs, status });
    for (const name of ['', '-wired', '-killed']) await environment.close(`${database.kind}${name}`);
  }
  // This target comes last, because its kills take the database away from all Millrace processes for a while.
  kills.millrace = await killEach(await ourTarget(environment), { victims: ours, forMs, status });
  await closeOurs(environment);
  return { durability, rates, unstored, latency, kills, month };
}

/** @param {ShapeRates[]} rates @param {string} load @param {Rival[]} rivals */
function slowestAt(rates, load, rivals) {
  const found = rates.find(({ shape }) => shape === load) ?? rates[0];
  const rounds = found?.rounds ?? [];
  return Math.min(...rivals.map(({ name }) => medianOf(rounds, (results) => results[name].rate)));
}

/**
 * Runs work, and stops things afterwards, even if the work fails.
 *
 * @template T
 * @param {Array<{ stop: () => Promise<void> }>} things
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
async function closing(things, work) {
  try {
    return await work();
  } finally {
    for (const thing of things) await thing.stop();
  }
}
