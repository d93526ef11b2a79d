import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLine } from '../environment/pipeline.js';
import { startProgram } from './program.js';
import { telegrafToml } from './settings.js';

/** @import { startBroker } from '../environment/broker.js' */
/** @import { Child } from '../process/child.js' */
/** @import { Line } from '../environment/pipeline.js' */
/** @import { PeerDatabase } from './database.js' */
/** @import { Program } from './program.js' */
/** @import { Tuning } from './settings.js' */
/** @import { Programs } from './tools.js' */

/**
 * The whole way of a peer: a Mosquitto of its own, Telegraf, and its database.
 *
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.dir
 * @param {Programs} options.programs
 * @param {PeerDatabase} options.database
 * @param {Awaited<ReturnType<typeof startBroker>>} options.broker
 * @param {string} [options.reachedAt] where Telegraf connects instead of to the broker: a wire
 * @param {Child} options.publisher
 * @param {number} options.connections of the publisher
 */
export function createPeer({ name, dir, programs, database, broker, reachedAt, publisher, connections }) {
  /** @type {Program | null} */
  let telegraf = null;
  /** @type {Tuning & { samples: number } | null} */
  let tuned = null;

  async function start() {
    if (!tuned) return;
    const config = join(dir, 'telegraf.conf');
    mkdirSync(dir, { recursive: true });
    const { samples, ...tuning } = tuned;
    const text = telegrafToml({
      kind: database.kind,
      broker: reachedAt ?? broker.url,
      database: database.url,
      tuning,
      samples,
    });
    writeFileSync(config, text);
    telegraf = await startProgram({
      title: 'Telegraf',
      command: programs.telegraf,
      args: ['--config', config],
      log: join(dir, 'telegraf.log'),
      isReady: (log) => log.includes('Connected ['),
    });
  }

  return {
    name,
    broker,
    database,

    /** Kills Telegraf during a run. */
    kill: async () => telegraf?.kill(),
    start,

    /**
     * Restarts Telegraf with these settings, unless it already runs with them.
     *
     * @param {Tuning} tuning
     * @param {number} samples in a message
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
}

/** @typedef {ReturnType<typeof createPeer>} Peer */
