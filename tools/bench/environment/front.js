import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HTTP_NODE_FLAGS } from '../../../common/node-flags.js';
import { startChild } from '../process/child.js';

/** @import { Latencies } from '../load/open-loop.js' */

/**
 * The data to read.
 *
 * @typedef {object} Target
 * @property {string} device its name
 * @property {string} sensor its name
 * @property {number} from epoch ms
 * @property {number} to epoch ms
 */

/** @typedef {Latencies & { items: number, seconds: number }} Read `items`: of one answer, such as samples; `seconds`: of all */

const API = fileURLToPath(new URL('../../../api/index.js', import.meta.url));
const READER = fileURLToPath(new URL('../reading/main.js', import.meta.url));

/**
 * An API process that serves readers and takes nothing from the broker, as `npm run start:http` runs it, and
 * one that reads: over HTTP from it, and from the store itself.
 *
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.dir where they keep what they keep
 * @param {NodeJS.ProcessEnv} options.settings of the ingest process whose data they read
 */
export async function startFront({ name, dir, settings }) {
  const api = await startChild(API, {
    title: `HTTP process "${name}"`,
    log: join(dir, `${name}.log`),
    nodeFlags: HTTP_NODE_FLAGS,
    env: {
      ...settings,
      MQTT_CLIENT_ID: `bench-${name}`,
      ROLE: 'http',
      SPARKPLUG: 'false',
      CURSOR_SECRET: 'known to everybody, for the benchmark alone',
      HTTP_PORT: '0',
      DATA_DIR: dir,
      LOG_LEVEL: 'info',
    },
    isReady: (line) => /\{.*"msg":"ready".*\}/.exec(line)?.[0],
  });
  const { httpPort } = JSON.parse(api.said);
  const url = `http://127.0.0.1:${httpPort}`;
  const reader = await startChild(READER, {
    title: `reader of "${name}"`,
    log: join(dir, `${name}-reader.log`),
    env: { ...settings, BENCH_URL: url },
  });
  return {
    url,

    /** @type {Record<string, number>} */
    pids: { http: api.pid, reader: reader.pid },

    /**
     * @param {string} kind
     * @param {Target} target
     * @param {number} forMs the same again and again, once at least
     * @returns {Promise<Read>}
     */
    read: (kind, target, forMs) => reader.ask('read', { kind, target, forMs }),

    /** @param {{ readers: number, devicesEach: number, devices: number, samples: number }} options `samples`: of a sensor in a message; settles when all of them follow their devices */
    follow: (options) => reader.ask('follow', options),

    /** @returns {Promise<Latencies>} from when a sample was published until a reader saw it */
    unfollow: () => reader.ask('unfollow'),

    async close() {
      await reader.stop();
      await api.stop();
    },
  };
}

/** @typedef {Awaited<ReturnType<typeof startFront>>} Front */
