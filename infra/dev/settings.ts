import { MillraceError } from '../../common/errors.ts';
import type { Config } from '../../common/settings/config.ts';
import { readSettings } from '../../common/settings/index.ts';
import { GRAPH_SETTINGS } from '../../schema/graph.ts';
import { KAFKA_SETTINGS } from '../../schema/kafka/index.ts';
import { checkEnginePort, freePort, isPortFree } from '../engine/ports.ts';

/** The settings of an API process with `ROLE=all`. @throws `bad_settings` */
export async function readDevSettings(): Promise<Config> {
  const config = readSettings({ ...process.env, ROLE: 'all' }, { groups: [KAFKA_SETTINGS, GRAPH_SETTINGS] });
  // With port 0, the API process would choose a free port, and this process would not know it.
  config.http.port ||= await freePort();
  config.mqtt.port ||= await freePort();
  return config;
}

/** @throws `port_taken`; the message names the setting to change */
export async function checkPorts({ http, mqtt, cql }: Config, { local }: { local: boolean }) {
  await checkPort('HTTP_PORT', http.port, http.host, 'the API and the dashboard');
  if (!mqtt.url) await checkPort('MQTT_PORT', mqtt.port, mqtt.host, 'the MQTT broker');
  if (local) await checkEnginePort(cql.localPort);
}

async function checkPort(setting: string, port: number, host: string, listener: string) {
  if (await isPortFree(port, host)) return;
  throw new MillraceError(
    'port_taken',
    `Something listens on ${host}:${port} already, where ${listener} should. End it, or choose another port: ${setting}=${await freePort()} npm run dev`,
  );
}

/**
 * @param localEngine contact point; null: the settings name a cluster
 * @param localKafka address; null: the Kafka of the settings, if any
 */
export function childEnvironment(
  { dataDir, http, mqtt }: Config,
  localEngine: string | null,
  localKafka: string | null,
): NodeJS.ProcessEnv {
  const common = {
    ...process.env,
    ROLE: 'all',
    DATA_DIR: dataDir,
    HTTP_PORT: String(http.port),
    MQTT_PORT: String(mqtt.port),
    ...(localKafka && { ...unset(KAFKA_ACCESS), STREAM_KAFKA: localKafka }),
  };
  if (!localEngine) return common;
  const local = { CQL_CONTACT_POINTS: localEngine, CQL_LOCAL_DC: 'datacenter1' };
  return { ...common, ...unset(DATABASE_ACCESS), ...local };
}

/** The local database does not use them. */
const DATABASE_ACCESS = ['CQL_TLS_CA', 'CQL_TLS_CERT', 'CQL_TLS_KEY'];
const KAFKA_ACCESS = [
  ...['STREAM_TLS', 'STREAM_TLS_CA', 'STREAM_TLS_CERT', 'STREAM_TLS_KEY'],
  ...['STREAM_USERNAME', 'STREAM_PASSWORD', 'STREAM_PASSWORD_FILE'],
];

/** An empty text counts as unset, even if `.env` has the setting. */
const unset = (names: string[]): NodeJS.ProcessEnv => Object.fromEntries(names.map((name) => [name, '']));

const KAFKA_PORT = 9092;

export const kafkaPort = (config: Config): number =>
  Number(/:(\d+)$/.exec(config.of(KAFKA_SETTINGS).kafka?.[0] ?? '')?.[1] ?? KAFKA_PORT);

const GRAPH_PORT = 8182;

export const graphPort = (config: Config): number =>
  Number(new URL(config.of(GRAPH_SETTINGS).url).port || GRAPH_PORT);
