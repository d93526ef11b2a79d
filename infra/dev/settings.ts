import { MillraceError } from '../../common/errors.js';
import { readSettings } from '../../common/settings/index.js';
import { checkEnginePort, freePort, isPortFree } from '../engine/ports.js';

/** @import { Config } from '../../common/settings/config.js' */

/**
 * Reads the settings of `npm run dev`, which are those of an API process with `ROLE=all`. Port 0 is replaced by a free port.
 *
 * @returns {Promise<Config>}
 * @throws {MillraceError} `bad_settings`
 */
export async function readDevSettings() {
  const config = readSettings({ ...process.env, ROLE: 'all' });
  // With port 0, the API process would choose a free port, and this process would not know it.
  config.http.port ||= await freePort();
  config.mqtt.port ||= await freePort();
  return config;
}

/**
 * @param {Config} config
 * @param {{ local: boolean }} options `local`: whether `npm run dev` starts the database
 * @throws {MillraceError} `port_taken`; the message names the setting to change
 */
export async function checkPorts({ http, mqtt, cql }, { local }) {
  await checkPort('HTTP_PORT', http.port, http.host, 'the API and the dashboard');
  if (!mqtt.url) await checkPort('MQTT_PORT', mqtt.port, mqtt.host, 'the MQTT broker');
  if (local) await checkEnginePort(cql.localPort);
}

/** @param {string} setting @param {number} port @param {string} host @param {string} who */
async function checkPort(setting, port, host, who) {
  if (await isPortFree(port, host)) return;
  throw new MillraceError(
    'port_taken',
    `Something listens on ${host}:${port} already, where ${who} should. End it, or choose another port: ${setting}=${await freePort()} npm run dev`,
  );
}

/**
 * Returns the environment of the processes that `npm run dev` starts.
 *
 * @param {Config} config
 * @param {string | null} localEngine contact point of the database that `npm run dev` started; null: the settings name a cluster
 * @param {string | null} localKafka address of the Kafka that `npm run dev` started; null: they use the Kafka of the settings, if any
 * @returns {NodeJS.ProcessEnv}
 */
export function childEnvironment({ dataDir, http, mqtt }, localEngine, localKafka) {
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

/** Settings for access to an external database. They are unset for the local database, which does not use them. */
const DATABASE_ACCESS = ['CQL_TLS_CA', 'CQL_TLS_CERT', 'CQL_TLS_KEY'];
/** Settings for access to an external Kafka. They are unset for the local Kafka, which does not use them. */
const KAFKA_ACCESS = [
  ...['STREAM_TLS', 'STREAM_TLS_CA', 'STREAM_TLS_CERT', 'STREAM_TLS_KEY'],
  ...['STREAM_USERNAME', 'STREAM_PASSWORD', 'STREAM_PASSWORD_FILE'],
];

/** Sets settings to an empty text, which counts as unset, even if `.env` has them. @param {string[]} names @returns {NodeJS.ProcessEnv} */
const unset = (names) => Object.fromEntries(names.map((name) => [name, '']));

/** The default port of Kafka. */
const KAFKA_PORT = 9092;

/** @param {Config} config @returns {number} the port of the local Kafka: the port in STREAM_KAFKA, or the default port */
export const kafkaPort = ({ stream }) => Number(/:(\d+)$/.exec(stream.kafka?.[0] ?? '')?.[1] ?? KAFKA_PORT);
