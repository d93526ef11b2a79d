import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import mqtt, { type MqttClient } from 'mqtt';
import { type Mosquitto, startMosquitto } from '../../mqtt/mosquitto.ts';
import { startCommand } from '../../processes/api-process.ts';
import type { TestSystem } from '../../system/index.ts';
import { useCredentials } from './index.ts';

/** MQTT 5, table 2-6: not authorized. Unlike MQTT 3.1.1, it has this code for a single message as well. */
export const NOT_AUTHORIZED = 135;

export const INSTALLATION = 'operator';

export function useMosquittoAccounts(
  system: TestSystem,
  {
    accounts,
    settings = () => ({}),
    prepare = async () => {},
  }: {
    /** devices by account */
    accounts: Record<string, string[]>;
    /** of the command; `files`: the directory of the files */
    settings?: (files: string) => Record<string, string>;
    /** before the files are written */
    prepare?: (files: string) => Promise<void>;
  },
) {
  const credentials = useCredentials(system);
  const secrets: Record<string, string> = { [INSTALLATION]: 'of the operator' };
  const clients: MqttClient[] = [];
  const state: { files: string; broker: Mosquitto; written: { code: number | null; output: string } } =
    {} as never;

  const write = () =>
    startCommand(
      'api/features/credentials/command/index.ts',
      {
        ...system.databaseSettings,
        MQTT_USERNAME: INSTALLATION,
        MQTT_PASSWORD: secrets[INSTALLATION],
        ...settings(state.files),
      },
      ['mosquitto', '--out', state.files],
    ).ended;

  beforeAll(async () => {
    state.files = mkdtempSync(join(tmpdir(), 'millrace-credentials-'));
    for (const [account, devices] of Object.entries(accounts))
      secrets[account] = await credentials.issue(account, devices);
    await prepare(state.files);
    state.written = await write();
    state.broker = await startMosquitto({ files: state.files });
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.endAsync(true)));
    await state.broker?.remove();
    rmSync(state.files, { recursive: true, force: true });
  });

  return {
    credentials,
    secrets,
    write,
    files: () => state.files,
    broker: () => state.broker,
    written: () => state.written,

    async connect(username: string, password: string | undefined = secrets[username]) {
      const options = { protocolVersion: 5 as const, reconnectPeriod: 0, username, password };
      const client = await mqtt.connectAsync(state.broker.url, options, false);
      client.on('error', () => {});
      clients.push(client);
      return client;
    },
  };
}

export const isAccepted = (client: MqttClient, topic: string) =>
  client.publishAsync(topic, '[]', { qos: 1 }).then(
    () => true,
    ({ code }) => (code === NOT_AUTHORIZED ? false : code),
  );
