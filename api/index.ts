import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { addresses } from '../common/addresses.ts';
import { runCommand } from '../common/command.ts';
import { type CommandLine, type Flag, parseFlags, usageError } from '../common/flags.ts';
import type { Config } from '../common/settings/config.ts';
import { DATABASE_SETTINGS, readSettings } from '../common/settings/index.ts';
import { createStatusLine } from '../common/status-line.ts';
import { drainSession } from './commands/drain.ts';
import { SETTINGS_GROUPS } from './features/index.ts';
import { createLogger, prettyDestination } from './observability/index.ts';
import { startSystem } from './system.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const FLAGS = {
  drain: {
    type: 'switch',
    help: 'empties the session of MQTT_CLIENT_ID at the broker, ends it, and is done',
  },
  'or-none': {
    type: 'switch',
    help: 'with --drain: no session is no failure; for a job that may be tried again when it was done',
  },
} satisfies Record<string, Flag>;

const LINE: CommandLine<typeof FLAGS> = {
  command: 'npm start --',
  help: 'Starts ingest, the API and the dashboard with the settings of the environment and .env, and runs until a signal.',
  examples: ['npm start', 'ROLE=ingest MQTT_CLIENT_ID=millrace-2 npm start -- --drain'],
  flags: FLAGS,
  settings: [
    ...DATABASE_SETTINGS,
    'MQTT_URL',
    'MQTT_HOST',
    'MQTT_PORT',
    'HTTP_HOST',
    'HTTP_PORT',
    'ROLE',
    'API_TOKEN',
    'READ_TOKENS',
    'INGEST_TOKENS',
  ],
};

// `npm start` runs ingest, API and dashboard, until a signal arrives or its parent process ends.
await runCommand(async () => {
  const flags = parseFlags(LINE, process.argv.slice(2));
  // Without this check a job that lacks --drain would start a normal process.
  if (flags['or-none'] && !flags.drain) throw usageError(LINE.command, ['--or-none needs --drain']);
  const config = readSettings(process.env, { groups: SETTINGS_GROUPS });
  const logger = createLogger(config.logLevel, {
    secrets: config.secrets,
    destination: await prettyDestination(config.logFormat),
  });
  const end = createEnd();
  await (flags.drain ? drain(config, logger, end, flags['or-none']) : serve(config, logger, end));
  // Everything is closed. The driver (4.10) leaks timers of nodes that reconnected, and they would keep the process alive.
  process.exit();
});

async function serve(config: Config, logger: Logger, end: End) {
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

async function drain(config: Config, logger: Logger, end: End, orNone: boolean = false) {
  const statusLine = createStatusLine(process.stderr);
  const settled = await drainSession({ config, version, logger, end, onStatus: statusLine.update, orNone });
  statusLine.clear();
  const { clientId, url } = config.mqtt;
  statusLine.print(`${clientId}: ${settled} messages settled; its session at ${url} is ended.`);
}

type End = ReturnType<typeof createEnd>;

/** Resolves `reached` with the signal or `disconnect` (the parent process ended), and rejects it with a fatal error. */
function createEnd() {
  let fail: (error: Error) => void = () => {};
  const reached: Promise<string> = new Promise((resolve, reject) => {
    fail = reject;
    for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => resolve(event));
    // The parent process may have ended while the modules loaded, before the listener was added. `process.connected` is undefined without
    // a parent.
    if (process.connected === false) resolve('disconnect');
  });
  // `reached` may reject before it is awaited. A later await still gets the rejection.
  reached.catch(() => {});
  process.channel?.unref();
  return { reached, fail };
}
