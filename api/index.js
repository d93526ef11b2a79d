import { readFileSync } from 'node:fs';
import { runCommand } from '../common/command.js';
import { readSettings } from '../common/settings.js';
import { createLogger } from './logger.js';
import { startSystem } from './system.js';

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));

// npm start: ingest, API and dashboard, until a signal ends them, or whoever started them goes away.
await runCommand(async () => {
  const config = readSettings();
  const logger = createLogger(config.logLevel);
  const end = createEnd();
  const system = await startSystem({ config, version, logger, onFatal: end.fail });
  logger.info({ httpPort: system.httpPort, mqttPort: system.mqttPort, role: config.role }, 'ready');
  try {
    await end.reached;
  } finally {
    await system.stop();
  }
  // All is settled and closed. The driver (4.10) forgets timers of nodes that it lost and found again: they must not
  // keep this process alive.
  process.exit();
});

/** When this process has to end: a signal, the end of the process that started it, or something that cannot go on. */
function createEnd() {
  /** @type {(error: Error) => void} */
  let fail = () => {};
  /** @type {Promise<void>} */
  const reached = new Promise((resolve, reject) => {
    fail = reject;
    for (const event of ['SIGTERM', 'SIGINT', 'disconnect']) process.once(event, () => resolve(undefined));
    // A parent that went while our modules were loading was announced to nobody. (Undefined: there never was one.)
    if (process.connected === false) resolve(undefined);
  });
  // It may fail before anybody waits for it; who waits later still hears of it.
  reached.catch(() => {});
  process.channel?.unref();
  return { reached, fail };
}
