import { hostname } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** Taking the row away gets this long when the process ends, in ms: nobody waits for a database that is away. */
const FAREWELL_MS = 1000;

/** A process says every 10 s that it runs; one that has missed three times may have died. In ms. */
const SILENT_AFTER_MS = 30_000;

/**
 * What a process says of itself, as `GET /pipeline` shows it; and whether it `shares` the messages of an external broker.
 *
 * @typedef {import('./vital-signs.js').Stats & { broker: import('./readiness.js').Check | null, shares: boolean }} Beat
 */

/**
 * Tells the others that this process runs, and how it is. One that ends in good order takes its row away; the row of one
 * that died grows old, and is forgotten after an hour.
 *
 * @param {object} parts
 * @param {import('./store/processes.js').ProcessStore} parts.store
 * @param {{ clientId: string, role: string, version: string }} parts.process
 * @param {() => Beat} parts.read
 * @param {number} parts.everyMs
 * @param {() => number} parts.clock epoch ms
 * @param {import('pino').Logger} parts.logger
 */
export function createHeartbeat({ store, process: own, read, everyMs, clock, logger }) {
  const startedAt = clock();
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  /** @type {Promise<void>} */
  let beating = Promise.resolve();
  let beats = false;

  async function write() {
    try {
      await store.write({ ...own, startedAt, seenAt: clock(), vitals: JSON.stringify(read()) });
    } catch (error) {
      logger.warn({ reason: String(error) }, 'the heartbeat could not be written');
    } finally {
      beats = false;
    }
  }

  function beat() {
    // One that takes longer than the time between two is not overtaken.
    if (beats) return;
    beats = true;
    beating = write();
  }

  return {
    /** @returns {Promise<void>} settles after the first beat */
    start() {
      timer = setInterval(beat, everyMs);
      beat();
      return beating;
    },

    async stop() {
      if (!timer) return;
      clearInterval(timer);
      const farewell = async () => {
        await beating;
        await store.remove(own.clientId);
      };
      // Its row grows old where it cannot be taken away.
      await Promise.race([farewell().catch(() => {}), sleep(FAREWELL_MS, undefined, { ref: false })]);
    },
  };
}

/** @typedef {ReturnType<typeof createHeartbeat>} Heartbeat */

/**
 * What a process is called: by its session at an external broker where it has one, which no other process shares; else by where
 * it serves.
 *
 * @param {Pick<import('../common/settings/index.js').Config, 'role' | 'mqtt'>} config
 * @param {number} httpPort
 */
export const processName = ({ role, mqtt }, httpPort) =>
  mqtt.url && role !== 'http' ? mqtt.clientId : `${hostname()}:${httpPort}`;

/** @param {Pick<import('./store/processes.js').ProcessRow, 'seenAt'>} row @param {number} now epoch ms */
export const isSilent = ({ seenAt }, now) => now - seenAt > SILENT_AFTER_MS;
