import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HTTP_NODE_FLAGS } from '../../../common/node-flags.js';
import { startChild } from '../process/child.js';

const API = fileURLToPath(new URL('../../../api/index.js', import.meta.url));
const PACKAGE = new URL('../../../package.json', import.meta.url);
const VARIANT = fileURLToPath(new URL('../variants/main.js', import.meta.url));

/**
 * The differences to `npm start`: `store` names a store in variants/stores.js, `gate` fixes the number of requests in flight, and
 * `loop` replaces the broker.
 *
 * @typedef {{ store?: string, gate?: boolean, loop?: boolean }} Changed
 */

/**
 * Starts an ingest process as `npm start` does, or with one part replaced.
 *
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.dir folder of the files of the process
 * @param {NodeJS.ProcessEnv} options.settings
 * @param {Changed} [options.changed] missing: the process runs as `npm start` does
 */
export async function startIngest({ name, dir, settings, changed }) {
  const child = await startApi(changed ? VARIANT : API, {
    title: `ingest process "${name}"`,
    name,
    dir,
    nodeFlags: startFlags(),
    settings: {
      ...settings,
      ROLE: 'all',
      MQTT_PORT: '0',
      AUTO_REGISTER: 'true',
      AUTO_REGISTER_MAX: '1000000',
      // Times of a load with more than a thousand samples a second and sensor are ahead of the clock, so the API must accept such
      // times.
      MAX_CLOCK_SKEW: '1d',
      BENCH_STORE: changed?.store ?? '',
      BENCH_GATE: changed?.gate ? 'true' : '',
      BENCH_LOOP: changed?.loop ? 'true' : '',
    },
  });
  return { ...child, metrics: () => readMetrics(child.url) };
}

/** @typedef {Awaited<ReturnType<typeof startIngest>>} IngestProcess */

/**
 * Starts an API process that serves HTTP clients, as `npm run start:http` does. It receives nothing from the broker.
 *
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.dir folder of the log and data of the process
 * @param {NodeJS.ProcessEnv} options.settings settings of the ingest process whose data is served
 */
export async function startFront({ name, dir, settings }) {
  const { url, pid, stop } = await startApi(API, {
    title: `HTTP process "${name}"`,
    name,
    dir,
    nodeFlags: HTTP_NODE_FLAGS,
    settings: {
      ...settings,
      MQTT_CLIENT_ID: `bench-${name}`,
      ROLE: 'http',
      SPARKPLUG: 'false',
      CURSOR_SECRET: 'known to everybody, for the benchmark alone',
    },
  });
  return { url, pid, close: stop };
}

/** @typedef {Awaited<ReturnType<typeof startFront>>} Front */

/**
 * @param {string} script
 * @param {{ title: string, name: string, dir: string, nodeFlags: string[], settings: NodeJS.ProcessEnv }} options
 * @returns a child process that is ready, with the address of its API
 */
async function startApi(script, { title, name, dir, nodeFlags, settings }) {
  const child = await startChild(script, {
    title,
    log: join(dir, `${name}.log`),
    nodeFlags,
    env: { ...settings, HTTP_PORT: '0', DATA_DIR: dir, LOG_LEVEL: 'info' },
    isReady: (line) => /\{.*"msg":"ready".*\}/.exec(line)?.[0],
  });
  return { ...child, url: `http://127.0.0.1:${JSON.parse(child.said).httpPort}` };
}

/** @returns {string[]} flags that `npm start` passes to Node; all variants get the same flags */
export function startFlags() {
  const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  return /** @type {string} */ (scripts.start).split(' ').filter((word) => word.startsWith('--'));
}

/**
 * Reads the metrics of a process from its /metrics page.
 *
 * @param {string} url of the process's HTTP root
 * @returns {Promise<(name: string) => number>} returns the sum of a metric over its labels; 0 for a missing metric
 */
export async function readMetrics(url) {
  const response = await fetch(`${url}/metrics`);
  if (!response.ok) throw new Error(`${url}/metrics answers ${response.status}`);
  const text = await response.text();
  return (name) => sumOf(text, name);
}

/** @param {string} text in Prometheus' exposition format @param {string} name */
export function sumOf(text, name) {
  let sum = 0;
  for (const [, value] of text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm')))
    sum += Number(value);
  return sum;
}
