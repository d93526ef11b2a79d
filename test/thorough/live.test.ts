import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type EventStream, openStream } from '../support/http/event-stream.ts';
import { send } from '../support/http/index.ts';
import { type ApiProcess, startApi } from '../support/processes/api-process.ts';
import { useInstallation } from '../support/processes/installation.ts';
import { until } from '../support/until.ts';

const START_LIMIT = { withinMs: 120_000 };
const BASE = Date.now() - 600_000;

const { settings, connectClient, afterwards } = useInstallation({ CURSOR_SECRET: 'one secret for all' });
let processes: ApiProcess[] = [];
beforeAll(async () => {
  const start = (ROLE: string) => startApi({ ...settings(), ROLE }, START_LIMIT);
  processes = await Promise.all(['http', 'http', 'ingest'].map(start));
}, 3 * START_LIMIT.withinMs);
afterAll(() => Promise.all(processes.map((api) => api.kill())));

async function follow({ httpUrl }: ApiProcess, query: string = '') {
  const stream = await openStream(`${httpUrl}/api/v1/stream${query}`);
  afterwards(() => stream.close());
  await stream.first('snapshot');
  return stream;
}

const sampleOf = (value: number) => JSON.stringify({ sensor_id: 's', ts: BASE + value, value });

const received = (stream: EventStream): Set<string> =>
  new Set(stream.items('delta').map(({ device, value }) => `${device} ${value}`));

test('Live changes: two HTTP processes: every reader of /stream gets every change of the sensors it selects', async () => {
  const [left, right] = processes as [ApiProcess, ApiProcess];
  const client = await connectClient();
  const measure = (device: string, value: number) =>
    client.publishAsync(`iot/v1/${device}/measurements`, sampleOf(value), { qos: 1 });
  await Promise.all(['a', 'b'].map((device) => measure(device, 0)));
  const fleets = await Promise.all([follow(left), follow(right)]);
  const readers = await Promise.all([follow(left, '?device=a'), follow(right, '?sensor=a/s')]);

  for (let value = 1; value <= 20; value++) {
    await Promise.all(['a', 'b'].map((device) => measure(device, value)));
    const all = ['a', 'b'].map((device) => `${device} ${value}`);
    await until(() => fleets.every((fleet) => all.every((change) => received(fleet).has(change))));
    await until(() => readers.every((reader) => received(reader).has(`a ${value}`)));
  }
  for (const reader of readers)
    expect([...received(reader)].filter((change) => !change.startsWith('a '))).toEqual([]);

  // A reader of one process also receives the samples that the other process stores itself.
  await send(left.httpUrl, '/api/v1/measurements?device=a', { method: 'POST', body: sampleOf(21) });
  await until(() => [...fleets, ...readers].every((stream) => received(stream).has('a 21')));
});
