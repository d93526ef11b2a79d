import { once } from 'node:events';
import { createServer } from 'node:net';
import { expect, test } from '@jest/globals';
import pino from 'pino';
import type { Feature } from '../../api/feature.ts';
import { FEATURES } from '../../api/features/index.ts';
import { startSystem } from '../../api/system.ts';
import { readSettings } from '../../common/settings/index.ts';
import { listening } from '../support/http/listening.ts';
import { createMemoryStore } from '../support/memory-store/index.ts';
import { until } from '../support/until.ts';

const route = () => {
  throw new Error('broken');
};

test.each<[string, Partial<Feature>]>([
  ['be created', { create: () => Promise.reject(new Error('broken')) }],
  ['extend a route', { create: async () => ({ routes: [], extend: route }) }],
  ['find its announced items', { announced: { broken: route } }],
  ['open its topics', { topics: route }],
  [
    'register its metric, because the core has it',
    {
      topics({ metrics }) {
        metrics.declare.counter('iot_ingest_in_flight', 'broken');
        return { kind: 'broken', handler: {} as never };
      },
    },
  ],
])(
  'Process: a feature cannot %s: the process does not start, its features stop, and its connection to the database is closed',
  async (_, part) => {
    const { store } = await createMemoryStore({ clock: Date.now });
    const stopped: string[] = [];
    const close = async () => void stopped.push('database');
    const create = async () => ({ routes: [] });
    const good = async () => ({ routes: [], stop: () => void stopped.push('feature') });
    FEATURES.push({ name: 'good', create: good }, { name: 'broken', create, ...part });
    try {
      const starting = startSystem({
        config: readSettings({ CURSOR_SECRET: 'c'.repeat(64) }, { envFile: '' }),
        version: 'test',
        logger: pino({ level: 'silent' }),
        onFatal: () => {},
        openStore: async () => ({ ...store, close }),
      });
      await expect(starting).rejects.toThrow(/broken|iot_ingest_in_flight/);
      const isCreated = part.create !== undefined;
      expect(stopped.sort()).toEqual(isCreated ? ['database', 'feature'] : ['database']);
    } finally {
      FEATURES.splice(-2);
    }
  },
);

test('Process: a feature cannot start: the process does not start, and each of its parts stops', async () => {
  const { store } = await createMemoryStore({ clock: Date.now });
  const lines: string[] = [];
  const start = () => Promise.reject(new Error('broken'));
  FEATURES.push({ name: 'broken', create: async () => ({ routes: [], start }) });
  try {
    const starting = startSystem({
      config: readSettings({ CURSOR_SECRET: 'c'.repeat(64), MQTT_PORT: '0' }, { envFile: '' }),
      version: 'test',
      logger: pino({ level: 'warn' }, { write: (line) => void lines.push(line) }),
      onFatal: () => {},
      openStore: async () => store,
    });
    await expect(starting).rejects.toThrow('broken');
    expect(lines).toEqual([]);
  } finally {
    FEATURES.pop();
  }
});

async function freePort(): Promise<number> {
  const server = createServer();
  const port = await listening(server);
  server.close();
  await once(server, 'close');
  return port;
}

test('Process: the database does not take the first heartbeat: readers get statistics', async () => {
  const { store } = await createMemoryStore({ clock: Date.now });
  let take = () => {};
  const taken = new Promise<void>((resolve) => {
    take = resolve;
  });
  const write = async (...row: Parameters<typeof store.processes.write>) => {
    await taken;
    return store.processes.write(...row);
  };
  const port = await freePort();
  const settings = { CURSOR_SECRET: 'c'.repeat(64), HTTP_PORT: String(port), MQTT_PORT: '0' };
  const starting = startSystem({
    config: readSettings(settings, { envFile: '' }),
    version: 'test',
    logger: pino({ level: 'silent' }),
    onFatal: () => {},
    openStore: async () => ({ ...store, processes: { ...store.processes, write } }),
  });
  try {
    await until(async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/api/v1/pipeline/recent`).catch(() => null);
      return answer?.ok === true && (await answer.json()).items.length > 0;
    });
  } finally {
    take();
    await (await starting).stop();
  }
});
