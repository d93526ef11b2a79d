import { afterAll, beforeAll } from '@jest/globals';
import type { MqttClient } from 'mqtt';
import { type EventStream, openStream } from '../http/event-stream.ts';
import { type ApiProcess, startApi } from './api-process.ts';
import { useInstallation } from './installation.ts';

const START_LIMIT = { withinMs: 120_000 };
const BASE = Date.now() - 600_000;

/** Two HTTP processes and one of ingest, on Mosquitto. */
export function useLiveProcesses() {
  const installation = useInstallation({ CURSOR_SECRET: 'one secret for all' });
  const { settings, afterwards } = installation;
  let processes: ApiProcess[] = [];
  beforeAll(async () => {
    const start = (ROLE: string) => startApi({ ...settings(), ROLE }, START_LIMIT);
    processes = await Promise.all(['http', 'http', 'ingest'].map(start));
  }, 3 * START_LIMIT.withinMs);
  afterAll(() => Promise.all(processes.map((api) => api.kill())));
  const nth = (index: number) => processes[index] as ApiProcess;

  return {
    ...installation,
    left: () => nth(0),
    right: () => nth(1),
    ingest: () => nth(2),

    async follow({ httpUrl }: ApiProcess, query: string = '') {
      const stream = await openStream(`${httpUrl}/api/v1/stream${query}`);
      afterwards(() => stream.close());
      await stream.first('snapshot');
      return stream;
    },
  };
}

export const sampleOf = (value: number) => JSON.stringify({ sensor_id: 's', ts: BASE + value, value });

export const measure = (client: MqttClient, device: string, value: number) =>
  client.publishAsync(`iot/v1/${device}/measurements`, sampleOf(value), { qos: 1 });

export const received = (stream: EventStream): Set<string> =>
  new Set(stream.items('delta').map(({ device, value }) => `${device} ${value}`));
