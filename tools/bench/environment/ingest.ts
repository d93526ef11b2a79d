import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { HTTP_NODE_FLAGS } from '../../../common/node-flags.ts';
import { startChild } from '../process/child.ts';

const API = fileURLToPath(new URL('../../../api/index.ts', import.meta.url));
const PACKAGE = new URL('../../../package.json', import.meta.url);
const VARIANT = fileURLToPath(new URL('../variants/main.ts', import.meta.url));

/** `store` names a store in variants/stores.ts, `gate` fixes the number of requests in flight, and `loop` replaces the broker. */
export type Changed = { store?: string; gate?: boolean; loop?: boolean };

export async function startIngest({
  name,
  dir,
  settings,
  changed,
}: {
  name: string;
  dir: string;
  settings: NodeJS.ProcessEnv;
  /** missing: the process runs as `npm start` does */
  changed?: Changed;
}) {
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

export type IngestProcess = Awaited<ReturnType<typeof startIngest>>;

/** Like `npm run start:http`, it receives nothing from the broker. */
export async function startFront({
  name,
  dir,
  settings,
}: {
  name: string;
  dir: string;
  settings: NodeJS.ProcessEnv;
}) {
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

export type Front = Awaited<ReturnType<typeof startFront>>;

/** The child process is ready. */
async function startApi(
  script: string,
  {
    title,
    name,
    dir,
    nodeFlags,
    settings,
  }: { title: string; name: string; dir: string; nodeFlags: string[]; settings: NodeJS.ProcessEnv },
) {
  const child = await startChild(script, {
    title,
    log: join(dir, `${name}.log`),
    nodeFlags,
    env: { ...settings, HTTP_PORT: '0', DATA_DIR: dir, LOG_LEVEL: 'info' },
    isReady: (line) => /\{.*"msg":"ready".*\}/.exec(line)?.[0],
  });
  return { ...child, url: `http://127.0.0.1:${JSON.parse(String(child.said)).httpPort}` };
}

/** All variants get the flags with a value that `npm start` passes to Node.js, but not its first stage. */
export function startFlags(): string[] {
  const { scripts }: { scripts: { start: string } } = JSON.parse(readFileSync(PACKAGE, 'utf8'));
  return scripts.start.split(' ').filter((word) => /^--[^=]+=/.test(word));
}

/** @returns the sum of a metric over its labels; 0 for a missing metric */
export async function readMetrics(url: string): Promise<(name: string) => number> {
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
