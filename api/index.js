import { readFileSync } from 'node:fs';
import { addresses } from '../common/addresses.js';
import { runCommand } from '../common/command.js';
import { parseFlags, usageError } from '../common/flags.js';
import { readSettings } from '../common/settings/index.js';
import { createStatusLine } from '../common/status-line.js';
import { drainSession } from './commands/drain.js';
import { createLogger } from './observability/logger.js';
import { prettyDestination } from './observability/pretty-log.js';
import { startSystem } from './system.js';

/** @import { Logger } from 'pino' */
/** @import { CommandLine, Flag } from '../common/flags.js' */
/** @import { Config } from '../common/settings/config.js' */

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

/** @satisfies {Record<string, Flag>} */
const FLAGS = {
  drain: {
    type: 'switch',
    help: 'empties the session of MQTT_CLIENT_ID at the broker, ends it, and is done',
  },
  'or-none': {
    type: 'switch',
    help: 'with --drain: no session is no failure; for a job that may be tried again when it was done',
  },
};

/** @type {CommandLine<typeof FLAGS>} */
const LINE = {
  command: 'npm start --',
  help: 'Starts ingest, the API and the dashboard with the settings of the environment and .env, and runs until a signal.',
  examples: ['npm start', 'ROLE=ingest MQTT_CLIENT_ID=millrace-2 npm start -- --drain'],
  flags: FLAGS,
};

// npm start: ingest, API and dashboard, until a signal ends them, or whoever started them goes away.
await runCommand(async () => {
  const flags = parseFlags(LINE, process.argv.slice(2));
  // Else a job that forgot the one would take messages like any other process.
  if (flags['or-none'] && !flags.drain) throw usageError(LINE.command, ['--or-none needs --drain']);
  const config = readSettings();
  const logger = createLogger(config.logLevel, {
    secrets: config.secrets,
    destination: await prettyDestination(config.logFormat),
  });
  const end = createEnd();
  await (flags.drain ? drain(config, logger, end, flags['or-none']) : serve(config, logger, end));
  // All is settled and closed. The driver (4.10) forgets timers of nodes that it lost and found again: they must not
  // keep this process alive.
  process.exit();
});

/**
 * @param {Config} config
 * @param {Logger} logger
 * @param {End} end
 */
async function serve(config, logger, end) {
  const system = await startSystem({ config, version, logger, onFatal: end.fail });
  const { httpPort, mqttPort } = system;
  const { dashboard: http, broker: mqtt } = addresses({
    http: { ...config.http, port: httpPort },
    mqtt: { ...config.mqtt, port: mqttPort },
  });
  logger.info({ httpPort, mqttPort, role: config.role, http, mqtt }, 'ready');
  try {
    logger.info({ signal: await end.reached }, 'stopping');
  } catch (error) {
    logger.info({ reason: String(error) }, 'stopping');
    throw error;
  } finally {
    await system.stop();
    logger.info('stopped');
  }
}

/**
 * @param {Config} config
 * @param {Logger} logger
 * @param {End} end
 * @param {boolean} orNone
 */
async function drain(config, logger, end, orNone = false) {
  const statusLine = createStatusLine(process.stderr);
  const settled = await drainSession({ config, version, logger, end, onStatus: statusLine.update, orNone });
  statusLine.clear();
  const { clientId, url } = config.mqtt;
  statusLine.print(`${clientId}: ${settled} messages settled; its session at ${url} is ended.`);
}

/** @typedef {ReturnType<typeof createEnd>} End */

/**
 * When this process has to end: a signal, the end of the process that started it (`disconnect`), or something that cannot
 * go on. `reached` tells which of the first two.
 */
function createEnd() {
  /** @type {(error: Error) => void} */
  let fail = () => {};
  /** @type {Promise<string>} */
  const reached = new Promise((resolve, reject) => {
    fail = reject;
    for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => resolve(event));
    // A parent that went while our modules were loading was announced to nobody. (Undefined: there never was one.)
    if (process.connected === false) resolve('disconnect');
  });
  // It may fail before anybody waits for it; who waits later still hears of it.
  reached.catch(() => {});
  process.channel?.unref();
  return { reached, fail };
}
