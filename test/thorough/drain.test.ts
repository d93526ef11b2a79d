import { expect, test } from '@jest/globals';
import mqtt from 'mqtt';
import { send } from '../support/http/index.ts';
import { type ApiProcess, startCommand } from '../support/processes/api-process.ts';
import { useInstallation } from '../support/processes/installation.ts';
import { until } from '../support/until.ts';

const MESSAGES = 400;
const BASE = Date.now() - 600_000;

const installation = useInstallation();

const start = (clientId: string) => installation.start({ MQTT_CLIENT_ID: clientId });

/** Starts and stops a process, so that its session stays at the broker. */
async function startAndStop(clientId: string) {
  const api = await start(clientId);
  api.signal('SIGTERM');
  expect((await api.ended).code).toBe(0);
}

/** @param settings in addition to those of the installation @param words further flags */
function drain(settings: Record<string, string>, ...words: string[]) {
  const command = startCommand('api/index.ts', { ...installation.settings(), ...settings }, [
    '--drain',
    ...words,
  ]);
  installation.afterwards(() => command.kill());
  return command;
}

async function publish(device: string, from: number, count: number) {
  const client = await installation.connectClient();
  const values = Array.from({ length: count }, (_, i) => from + i);
  await Promise.all(
    values.map((value) =>
      client.publishAsync(
        `iot/v1/${device}/measurements`,
        JSON.stringify({ sensor_id: 's', ts: BASE + value, value }),
        { qos: 1 },
      ),
    ),
  );
}

async function stored({ httpUrl }: ApiProcess, device: string): Promise<number[]> {
  const path = `/api/v1/devices/${device}/sensors/s/measurements?from=${BASE}&order=asc&limit=1000`;
  const { status, text } = await send(httpUrl, path);
  return status === 200 ? JSON.parse(text).items.map(({ value }: { value: number }) => value) : [];
}

/** Has the broker a session of this client id? The check ends that session. */
async function hasSession(clientId: string) {
  const client = mqtt.connect(installation.broker().url, {
    clientId,
    protocolVersion: 5,
    clean: false,
    manualConnect: true,
  });
  const answer = new Promise((resolve, reject) => {
    client.once('connect', ({ sessionPresent }) => resolve(sessionPresent)).once('error', reject);
  });
  client.connect();
  try {
    return await answer;
  } finally {
    await client.endAsync();
  }
}

const zeroTo = (count: number) => Array.from({ length: count }, (_, i) => i);

test('Ingest --drain: MQTT session of a stopped process: its messages are stored, and the broker ends the session', async () => {
  const other = await start('ingest-1');
  await startAndStop('ingest-2');
  await publish('d', 0, MESSAGES);
  // The broker also queues a share for the member that is stopped.
  await until(async () => (await stored(other, 'd')).length > MESSAGES / 4);
  expect((await stored(other, 'd')).length).toBeLessThan(MESSAGES);

  const { code, output } = await drain({ MQTT_CLIENT_ID: 'ingest-2' }).ended;
  expect({ code, output }).toMatchObject({ code: 0 });
  const settled = Number(/ingest-2: (\d+) messages settled; its session at .* is ended\./.exec(output)?.[1]);
  expect(settled).toBeGreaterThan(0);
  await until(async () => (await stored(other, 'd')).length === MESSAGES);
  expect(await stored(other, 'd')).toEqual(zeroTo(MESSAGES));
  expect(await hasSession('ingest-2')).toBe(false);

  // The broker queues nothing more for the drained member.
  await publish('d', MESSAGES, 50);
  await until(async () => (await stored(other, 'd')).length === MESSAGES + 50);
  expect((await send(other.httpUrl, '/readyz')).status).toBe(200);
});

test('Ingest --drain: MQTT session does not exist: exit code 77, or 0 with --or-none; no session is created', async () => {
  const settings = { MQTT_CLIENT_ID: 'never-there', LOG_LEVEL: 'error' };
  const { code, output } = await drain(settings).ended;
  expect({ code, output }).toMatchObject({ code: 77 });
  expect(output).toContain('has no session of never-there. Check MQTT_CLIENT_ID');
  expect(await hasSession('never-there')).toBe(false);

  const again = await drain(settings, '--or-none').ended;
  expect(again).toMatchObject({
    code: 0,
    output: expect.stringContaining('never-there: 0 messages settled'),
  });
  expect(await hasSession('never-there')).toBe(false);
});

test('Ingest --drain: SIGTERM before all messages are stored: exit code 1, and the broker keeps the MQTT session', async () => {
  // On a machine that stalls, the session may be empty before the signal comes.
  const { output } = await until(async () => {
    await startAndStop('ingest-3');
    const draining = drain({ MQTT_CLIENT_ID: 'ingest-3' });
    await until(() => draining.output().includes('ingest-3: 0 messages settled, 0 under way'));
    draining.signal('SIGTERM');
    const ended = await draining.ended;
    if (ended.code === 0) return null;
    expect(ended.code).toBe(1);
    return ended;
  });
  expect(output).toContain('Stopped before the end: the broker keeps the session of ingest-3.');
  expect(await hasSession('ingest-3')).toBe(true);
});
