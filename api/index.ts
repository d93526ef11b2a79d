import { readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import { addresses } from '../common/addresses.ts';
import { runCommand } from '../common/command.ts';
import { type CommandLine, type Flag, parseFlags } from '../common/flags.ts';
import type { Config } from '../common/settings/config.ts';
import { DATABASE_SETTINGS, readSettings } from '../common/settings/index.ts';
import { listenForStop } from '../common/stop-signal.ts';
import { FEATURES, ingestSlots, SETTINGS_GROUPS } from './features/index.ts';
import { createLogger, prettyDestination } from './observability/index.ts';
import { startSystem } from './system.ts';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

const MODES = FEATURES.flatMap(({ startMode }) => startMode ?? []);
const FLAGS: Record<string, Flag> = Object.assign({}, ...MODES.map(({ flags }) => flags));

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
    'CORRECT_TOKENS',
  ],
};

// `npm start` runs ingest, API and dashboard, until a signal arrives or its parent process ends.
await runCommand(async () => {
  const flags = parseFlags(LINE, process.argv.slice(2));
  const mode = MODES.find(({ isWanted }) => isWanted(flags));
  const config = readSettings(process.env, { groups: SETTINGS_GROUPS });
  const logger = createLogger(config.logLevel, {
    secrets: config.secrets,
    destination: await prettyDestination(config.logFormat),
  });
  const end = createEnd();
  if (mode) await mode.run({ config, version, logger, end, slots: ingestSlots(config) }, flags);
  else await serve(config, logger, end);
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

type End = ReturnType<typeof createEnd>;

/** Resolves `reached` with the signal or `disconnect` (the parent process ended), and rejects it with a fatal error. */
function createEnd() {
  let fail: (error: Error) => void = () => {};
  const reached: Promise<string> = new Promise((resolve, reject) => {
    fail = reject;
    listenForStop(resolve);
    process.once('disconnect', () => resolve('disconnect'));
    // The parent process may have ended while the modules loaded, before the listener was added. `process.connected` is undefined without
    // a parent.
    if (process.connected === false) resolve('disconnect');
  });
  // `reached` may reject before it is awaited. A later await still gets the rejection.
  reached.catch(() => {});
  process.channel?.unref();
  return { reached, fail };
}
