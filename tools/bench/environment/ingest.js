import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startChild } from '../process/child.js';

const API = fileURLToPath(new URL('../../../api/index.js', import.meta.url));
const PACKAGE = new URL('../../../package.json', import.meta.url);
const VARIANT = fileURLToPath(new URL('../variants/main.js', import.meta.url));

/**
 * The differences to `npm start`: the name of a store in variants/stores.js, a fixed number of requests in flight, and no broker.
 *
 * @typedef {{ store?: string, gate?: boolean, loop?: boolean }} Changed
 */

/**
 * Starts an ingest process as `npm start` does, or with one part replaced.
 *
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.dir where it keeps what it keeps
 * @param {NodeJS.ProcessEnv} options.settings
 * @param {Changed} [options.changed] none: `npm start`
 */
export async function startIngest({ name, dir, settings, changed }) {
  const child = await startChild(changed ? VARIANT : API, {
    title: `ingest process "${name}"`,
    log: join(dir, `${name}.log`),
    nodeFlags: startFlags(),
    env: {
      ...settings,
      ROLE: 'all',
      HTTP_PORT: '0',
      MQTT_PORT: '0',
      DATA_DIR: dir,
      LOG_LEVEL: 'info',
      AUTO_REGISTER: 'true',
      AUTO_REGISTER_MAX: '1000000',
      // A load faster than a thousand samples a second and sensor runs ahead of the clock.
      MAX_CLOCK_SKEW: '1d',
      BENCH_STORE: changed?.store ?? '',
      BENCH_GATE: changed?.gate ? 'true' : '',
      BENCH_LOOP: changed?.loop ? 'true' : '',
    },
    isReady: (line) => /\{.*"msg":"ready".*\}/.exec(line)?.[0],
  });
  const { httpPort, mqttPort } = JSON.parse(child.said);
  const url = `http://127.0.0.1:${httpPort}`;
  return { ...child, url, mqttPort, metrics: () => readMetrics(url) };
}

/** @typedef {Awaited<ReturnType<typeof startIngest>>} IngestProcess */

/** @returns {string[]} flags that `npm start` passes to Node; all variants get the same */
export function startFlags() {
  const { scripts } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  return /** @type {string} */ (scripts.start).split(' ').filter((word) => word.startsWith('--'));
}

/**
 * The metrics of a process, from its /metrics page.
 *
 * @param {string} url of the process's HTTP root
 * @returns {Promise<(name: string) => number>} sum of a metric over its labels; 0 where there is none
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
