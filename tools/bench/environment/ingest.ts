import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HTTP_NODE_FLAGS } from '../../../common/node-flags.ts';
import { startChild } from '../process/child.ts';

const API = fileURLToPath(new URL('../../../api/index.ts', import.meta.url));
const ROWS = fileURLToPath(new URL('../variants/main.ts', import.meta.url));
const PACKAGE = new URL('../../../package.json', import.meta.url);

interface ProcessOptions {
  name: string;
  dir: string;
  settings: NodeJS.ProcessEnv;
}

/** Ingest as `npm start` runs it. @param options `rows`: it stores one row per sample */
export async function startIngest({ rows = false, ...options }: ProcessOptions & { rows?: boolean }) {
  const child = await startApi(rows ? ROWS : API, startFlags(), options, {
    // One row per sample is compared as it is usual, with rows that are written before the acknowledgement.
    ...(rows && { INGEST_JOURNAL: 'never' }),
    ROLE: 'all',
    MQTT_PORT: '0',
    AUTO_REGISTER: 'true',
    AUTO_REGISTER_MAX: '1000000',
    // Times of a load with more than a thousand samples a second and sensor are ahead of the clock.
    MAX_CLOCK_SKEW: '1d',
  });
  return { ...child, metrics: () => readMetrics(child.url) };
}

/** Like `npm run start:http`, it receives nothing from the broker. */
export async function startHttpProcess(options: ProcessOptions) {
  const { url, pid, stop } = await startApi(API, HTTP_NODE_FLAGS, options, {
    MQTT_CLIENT_ID: `bench-${options.name}`,
    ROLE: 'http',
    SPARKPLUG: 'false',
    CURSOR_SECRET: 'known to everybody, for the benchmark alone',
  });
  return { url, pid, close: stop };
}

async function startApi(
  script: string,
  nodeFlags: string[],
  { name, dir, settings }: ProcessOptions,
  more: NodeJS.ProcessEnv,
) {
  const child = await startChild(script, {
    title: `process "${name}"`,
    log: join(dir, `${name}.log`),
    nodeFlags,
    env: { ...settings, ...more, HTTP_PORT: '0', DATA_DIR: dir, LOG_LEVEL: 'info' },
    isReady: (line) => /\{.*"msg":"ready".*\}/.exec(line)?.[0],
  });
  return { ...child, url: `http://127.0.0.1:${JSON.parse(String(child.ready)).httpPort}` };
}

/** All variants get the flags with a value that `npm start` passes to Node.js, but not its first stage. */
function startFlags(): string[] {
  const { scripts }: { scripts: { start: string } } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  return scripts.start.split(' ').filter((word) => /^--[^=]+=/.test(word));
}

/** @returns the sum of a metric over its labels; 0 for a missing metric */
async function readMetrics(url: string): Promise<(name: string) => number> {
  const response = await fetch(`${url}/metrics`);
  if (!response.ok) throw new Error(`${url}/metrics answers ${response.status}`);
  const text = await response.text();
  return (name) => sumOf(text, name);
}

/** @param text in Prometheus' exposition format */
export function sumOf(text: string, name: string) {
  let sum = 0;
  for (const [, value] of text.matchAll(new RegExp(`^${name}(?:\\{.*\\})? (\\S+)$`, 'gm')))
    sum += Number(value);
  return sum;
}
