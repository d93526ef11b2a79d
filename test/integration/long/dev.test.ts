import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import {
  cloneWorkTree,
  type DevProcess,
  freePorts,
  runNextToDev,
  startDev,
} from '../../support/processes/dev-process.ts';
import { processTree, untilGone } from '../../support/processes/index.ts';

/** A first run fetches packages and jars. */
const FIRST_RUN_MS = 1_200_000;
/** The part of the first run until the first values are stored. */
const FIRST_START_MS = 400_000;

let clone: Awaited<ReturnType<typeof cloneWorkTree>>;
let ports: Awaited<ReturnType<typeof freePorts>>;
const started: DevProcess[] = [];

beforeAll(async () => {
  clone = await cloneWorkTree();
  ports = await freePorts();
});

afterEach(async () => {
  for (const dev of started.splice(0)) {
    const tree = await processTree(dev.pid);
    if (tree.length === 0) continue;
    dev.signalGroup('SIGTERM');
    for (const left of await untilGone(tree)) process.kill(left.pid, 'SIGKILL');
  }
});

afterAll(() => clone.remove());

function dev(flags: string[], settings: NodeJS.ProcessEnv = ports) {
  const process = startDev(clone.folder, settings, ['--no-manual', ...flags]);
  started.push(process);
  return process;
}

/** The file in which `npm run dev` stores its ports. */
const addressFile = () => join(clone.folder, '.data', 'millrace-dev.json');

async function latest(): Promise<Map<string, { device: string; name: string; ts: string | null }> | null> {
  const response = await fetch(`http://127.0.0.1:${ports.HTTP_PORT}/api/v1/latest?limit=1000`, {
    signal: AbortSignal.timeout(10_000),
  }).catch(() => null);
  if (response?.status !== 200) return null;
  const { items } = await response.json();
  return new Map(items.map((item: Record<string, unknown>) => [`${item.device_id}/${item.sensor_id}`, item]));
}

/** @param since epoch ms @returns the sensors with a value since then; null: there are none */
async function measured(since: number): Promise<Awaited<ReturnType<typeof latest>>> {
  const items = [...((await latest()) ?? [])].filter(([, { ts }]) => ts !== null && Date.parse(ts) >= since);
  return items.length > 0 ? new Map(items) : null;
}

test(
  'npm run dev: fresh clone: one command starts the system, Ctrl-C stops it, and the next start has the stored data',
  async () => {
    const began = Date.now();
    const first = dev(['--devices', '3', '--sensors', '2', '--seed', '1', '--batch', '2s']);
    await first.until(async () => (await measured(began))?.size === 6, FIRST_START_MS);
    const page = await fetch(`http://127.0.0.1:${ports.HTTP_PORT}/`);
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(first.output()).toContain(`http://127.0.0.1:${ports.HTTP_PORT}/`);

    const tree = await processTree(first.pid);
    for (const part of ['infra/dev/index.ts', 'CassandraDaemon', 'api/index.ts', 'simulator/index.ts']) {
      expect(tree.filter(({ command }) => command.includes(part)).length).toBeGreaterThan(0);
    }
    const summary = await runNextToDev(clone.folder, 'dead-letters', ['summary']);
    expect(summary.stderr).toContain(`CQL 127.0.0.1:${ports.CQL_LOCAL_PORT}, keyspace iot`);
    const devices = await runNextToDev(clone.folder, 'simulator', ['--devices', '1', '--duration', '1s']);
    expect(devices.stderr).toContain(`mqtt://127.0.0.1:${ports.MQTT_PORT}`);
    expect(existsSync(addressFile())).toBe(true);
    // The second simulator may have registered sensors, and ended before their first values.
    const before = await first.until(latest);
    expect(before.size).toBeGreaterThanOrEqual(6);

    first.signalGroup('SIGINT');
    expect(await first.exited).toBe(0);
    expect(existsSync(addressFile())).toBe(false);
    expect(await untilGone(tree)).toEqual([]);

    const second = dev(['--no-simulator']);
    const after = await second.until(latest);
    expect([...after.keys()].sort()).toEqual([...before.keys()].sort());
    const again = await processTree(second.pid);
    second.signalNpm('SIGTERM');
    expect(await second.exited).toBe(0);
    expect(await untilGone(again)).toEqual([]);
  },
  FIRST_RUN_MS,
);
