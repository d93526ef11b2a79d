import { join } from 'node:path';
import { startBroker } from '../stand/broker.js';
import { createPace } from '../stand/wired.js';
import { createPeer } from './telegraf.js';

/**
 * Whoever is compared, in one class.
 *
 * @typedef {object} Rival
 * @property {Name} name
 * @property {'senml' | 'lines'} format
 * @property {() => number} databasePid
 * @property {boolean} tunable whether its tunings are swept
 * @property {(tuning: import('./settings.js').Tuning, samples: number) => Promise<import('../stand/line.js').Line>} line
 * @property {(tuning: import('./settings.js').Tuning, samples: number) => Promise<Pace>} wired a line whose latencies are known
 */

/** @typedef {'millrace' | 'questdb' | 'influxdb'} Name */

/** @typedef {import('../stand/wired.js').Pace} Pace */

/** @param {import('../stand/index.js').Stand} stand @returns {Rival} our own ingest, as it is */
export const ourselves = (stand) => ({
  name: 'millrace',
  format: 'senml',
  databasePid: () => stand.database,
  tunable: false,
  line: () => stand.line('packed'),
  wired: async () => (await stand.wired()).pace,
});

/**
 * @param {import('../stand/index.js').Stand} stand
 * @param {import('./database.js').PeerDatabase} database
 * @param {import('./tools.js').Programs} programs
 * @returns {Rival}
 */
export const behindTelegraf = (stand, database, programs) => ({
  name: database.kind,
  format: 'lines',
  databasePid: () => database.pid,
  tunable: true,
  async line(tuning, samples) {
    return (await openPeer(stand, { name: database.kind, database, programs })).line(tuning, samples);
  },
  async wired(tuning, samples) {
    const name = `${database.kind}-wired`;
    const peer = await openPeer(stand, { name, database, programs, wired: true });
    const line = await peer.line(tuning, samples);
    const { publisher, connections } = stand;
    return createPace({ line, broker: peer.broker, publisher, connections });
  },
});

/**
 * @param {import('../stand/index.js').Stand} stand
 * @param {object} options
 * @param {string} options.name
 * @param {import('./database.js').PeerDatabase} options.database
 * @param {import('./tools.js').Programs} options.programs
 * @param {boolean} [options.wired] Telegraf reaches its broker through the publisher's wire
 * @returns {Promise<import('./telegraf.js').Peer>} started once for each name
 */
export const openPeer = (stand, { name, database, programs, wired = false }) =>
  stand.contender(name, async (dir) => {
    const broker = await startBroker(join(dir, 'broker'));
    const reachedAt = wired ? await stand.publisher.ask('wire', broker.url) : undefined;
    const { publisher, connections } = stand;
    return createPeer({ name, dir, programs, database, broker, reachedAt, publisher, connections });
  });
