import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBroker } from '../environment/broker.js';
import { createLine, createPace } from '../environment/pipeline.js';
import { startProgram } from '../process/program.js';
import { telegrafToml } from './settings.js';

/** @import { Environment } from '../environment/index.js' */
/** @import { Line, Pace } from '../environment/pipeline.js' */
/** @import { PeerDatabase } from './database.js' */
/** @import { Tuning } from './settings.js' */
/** @import { Programs } from './tools.js' */
/** @import { Program } from '../process/program.js' */

/**
 * A pipeline of the comparison, in one durability class.
 *
 * @typedef {object} Rival
 * @property {Name} name
 * @property {'senml' | 'lines'} format
 * @property {() => number} databasePid
 * @property {boolean} tunable whether a sweep tries several tunings
 * @property {(tuning: Tuning, samples: number) => Promise<Line>} line starts the pipeline
 * @property {(tuning: Tuning, samples: number) => Promise<Pace>} wired starts the pipeline with a wire, so that latencies are
 *   known
 */

/** @typedef {'millrace' | 'questdb' | 'influxdb'} Name */

/** @param {Environment} environment @returns {Rival} Millrace with unchanged ingest */
export const ourselves = (environment) => ({
  name: 'millrace',
  format: 'senml',
  databasePid: () => environment.database,
  tunable: false,
  line: () => openOurs(environment, { wired: false }),
  wired: async () => (await openOurs(environment, { wired: true })).pace,
});

/** The keyspace and client of Millrace for all measurements. One keyspace is used, because its migration takes up to a minute. */
export const OURS = 'peers';

/** The names of the Millrace processes in the environment. Only one of them runs at a time, since they share the keyspace. */
const OUR_NAMES = ['ours', 'ours-wired'];

/**
 * Starts Millrace with unchanged ingest.
 *
 * @param {Environment} environment
 * @param {{ wired: boolean }} options `wired`: ingest reaches its broker through the publisher's wire
 */
export async function openOurs(environment, { wired }) {
  const [name, other] = wired ? [...OUR_NAMES].reverse() : OUR_NAMES;
  await environment.close(String(other));
  return environment.pipeline(String(name), undefined, { wired, keyspace: OURS });
}

/** Ends the Millrace processes. @param {Environment} environment */
export async function closeOurs(environment) {
  for (const name of OUR_NAMES) await environment.close(name);
}

/**
 * @param {Environment} environment
 * @param {PeerDatabase} database
 * @param {Programs} programs
 * @returns {Rival}
 */
export const behindTelegraf = (environment, database, programs) => ({
  name: database.kind,
  format: 'lines',
  databasePid: () => database.pid,
  tunable: true,
  async line(tuning, samples) {
    return (await openPeer(environment, { name: database.kind, database, programs })).line(tuning, samples);
  },
  async wired(tuning, samples) {
    const name = `${database.kind}-wired`;
    const peer = await openPeer(environment, { name, database, programs, wired: true });
    const line = await peer.line(tuning, samples);
    const { publisher, connections } = environment;
    return createPace({ line, broker: peer.broker, publisher, connections });
  },
});

/**
 * Opens the whole pipeline of a peer: its own Mosquitto, Telegraf, and its database.
 *
 * @param {Environment} environment
 * @param {object} options
 * @param {string} options.name
 * @param {PeerDatabase} options.database
 * @param {Programs} options.programs
 * @param {boolean} [options.wired] Telegraf reaches its broker through the publisher's wire
 * @returns a pipeline that is started once for each name
 */
export const openPeer = (environment, { name, database, programs, wired = false }) =>
  environment.variant(name, async (dir) => {
    const { publisher, connections } = environment;
    const broker = await startBroker(join(dir, 'broker'));
    const reachedAt = wired ? await publisher.ask('wire', broker.url) : broker.url;
    /** @type {Program | null} */
    let telegraf = null;
    /** @type {Tuning & { samples: number } | null} */
    let tuned = null;

    async function start() {
      if (!tuned) return;
      const config = join(dir, 'telegraf.conf');
      const { samples, ...tuning } = tuned;
      const { kind, url } = database;
      writeFileSync(config, telegrafToml({ kind, broker: reachedAt, database: url, tuning, samples }));
      telegraf = await startProgram({
        title: 'Telegraf',
        command: programs.telegraf,
        args: ['--config', config],
        log: join(dir, 'telegraf.log'),
        isReady: (log) => log.includes('Connected ['),
      });
    }

    return {
      broker,

      /** Kills Telegraf during a run. */
      kill: async () => telegraf?.kill(),
      start,

      /**
       * Restarts Telegraf with these settings, unless it already runs with them.
       *
       * @param {Tuning} tuning
       * @param {number} samples number of samples in a message
       * @returns {Promise<Line>}
       */
      async line(tuning, samples) {
        const wanted = { ...tuning, samples };
        if (JSON.stringify(wanted) !== JSON.stringify(tuned)) {
          await telegraf?.stop();
          tuned = wanted;
          await start();
        }
        const ingest = {
          pid: Number(telegraf?.pid),
          async metrics() {
            const counted = await database.counted();
            return (/** @type {string} */ metric) => (metric === 'iot_ingest_samples_total' ? counted : 0);
          },
          ask: async () => {},
          stop: async () => telegraf?.stop(),
        };
        return createLine({ name, broker, ingest, publisher, connections });
      },

      async close() {
        await telegraf?.stop();
        await broker.stop();
      },
    };
  });
