import { setTimeout as sleep } from 'node:timers/promises';
import { createMessageSource } from '../../../api/mqtt/index.js';
import { createLogger } from '../../../api/observability/logger.js';
import { startSystem } from '../../../api/system.js';
import { runCommand } from '../../../common/command.js';
import { readSettings } from '../../../common/settings/index.js';

/** How long what is acknowledged waits before it is written. */
const LATER_MS = 1000;

/**
 * The mistake against which the whole suite is proven: the system of `npm start`, but it acknowledges a message when it
 * has come, and commits it a second later, as one with a buffer in memory before its database would.
 */
await runCommand(async () => {
  const config = readSettings();
  const logger = createLogger(config.logLevel);
  const { httpPort, mqttPort } = await startSystem({
    config,
    version: 'hasty',
    logger,
    onFatal: (error) => logger.fatal(error),
    openSource: (context, deps) =>
      createMessageSource(context, {
        ...deps,
        async handleMessage(message) {
          void sleep(LATER_MS).then(() => deps.handleMessage(message));
          return 'accepted';
        },
      }),
  });
  logger.info({ httpPort, mqttPort }, 'ready');
});
