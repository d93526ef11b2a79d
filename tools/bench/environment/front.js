import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HTTP_NODE_FLAGS } from '../../../common/node-flags.js';
import { startChild } from '../process/child.js';

const API = fileURLToPath(new URL('../../../api/index.js', import.meta.url));

/**
 * Starts an API process that serves readers, as `npm run start:http` runs it. It receives nothing from the broker.
 *
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.dir folder of its log and data
 * @param {NodeJS.ProcessEnv} options.settings of the ingest process whose data it serves
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
  return { url: `http://127.0.0.1:${httpPort}`, pid: api.pid, close: () => api.stop() };
}

/** @typedef {Awaited<ReturnType<typeof startFront>>} Front */
