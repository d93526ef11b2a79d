import { isSilent } from './heartbeat.js';

/**
 * Looks, every now and then, which processes of the installation run, by their heartbeats. A process that ended in good
 * order is forgotten at once, one that died after an hour; until then it counts as silent, and its session at the broker
 * keeps a share of the messages that nobody takes.
 *
 * @param {object} parts
 * @param {Pick<import('../store/processes.js').ProcessStore, 'all'>} parts.store
 * @param {boolean} parts.shares whether this installation has an external broker, whose messages those that ingest share
 * @param {number} parts.everyMs
 * @param {() => number} parts.clock epoch ms
 * @param {import('./metrics.js').Metrics} parts.metrics
 * @param {import('pino').Logger} parts.logger
 */
export function createProcessWatch({ store, shares, everyMs, clock, metrics, logger }) {
  let processes = { running: 0, silent: 0 };
  let members = { online: 0, offline: 0 };
  /** @type {NodeJS.Timeout | undefined} */
  let timer;

  async function look() {
    try {
      const rows = await store.all();
      const now = clock();
      const silent = rows.filter((row) => isSilent(row, now)).length;
      processes = { running: rows.length - silent, silent };
      const sharing = shares ? rows.filter(isMember) : [];
      const online = sharing.filter((row) => !isSilent(row, now) && isConnected(row)).length;
      members = { online, offline: sharing.length - online };
    } catch (error) {
      // A database that is away says nothing of processes; that it is away is told elsewhere.
      logger.debug({ reason: String(error) }, 'the heartbeats could not be read');
    }
  }

  metrics.states(
    'iot_processes',
    'Processes of the installation by their heartbeats: running, silent for half a minute',
    () => processes,
  );
  metrics.states(
    'iot_share_group_members',
    'Those that share the messages of an external broker: online, offline (silent, or not connected to it)',
    () => members,
  );

  return {
    /** @returns {Promise<void>} settles after the first look */
    start() {
      timer = setInterval(() => void look(), everyMs).unref();
      return look();
    },
    stop: () => clearInterval(timer),
  };
}

/** @param {import('../store/processes.js').ProcessRow} row @returns {import('./heartbeat.js').Beat} */
const beatOf = ({ vitals }) => JSON.parse(vitals);

/**
 * One with a broker of its own leaves no session elsewhere, however it ended.
 *
 * @param {import('../store/processes.js').ProcessRow} row
 */
const isMember = (row) => row.role !== 'http' && beatOf(row).shares;

/** @param {import('../store/processes.js').ProcessRow} row */
const isConnected = (row) => beatOf(row).broker?.ok === true;
