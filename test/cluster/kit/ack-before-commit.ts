import { setTimeout as sleep } from 'node:timers/promises';
import { createMessageSource } from '../../../api/mqtt/index.ts';
import { createLogger } from '../../../api/observability/logger.ts';
import { startSystem } from '../../../api/system.ts';
import { runCommand } from '../../../common/command.ts';
import { readSettings } from '../../../common/settings/index.ts';

/** The delay between the acknowledgement of a message and its write. */
const WRITE_DELAY_MS = 1000;

/**
 * The broken variant that proves the suite: the system of `npm start`, but it acknowledges a message at its arrival and
 * commits it a second later. A system with a memory buffer in front of its database behaves like this.
 */
await runCommand(async () => {
  const config = readSettings();
  const logger = createLogger(config.logLevel);
  const { httpPort, mqttPort } = await startSystem({
    config,
    version: 'ack-before-commit',
    logger,
    onFatal: (error) => logger.fatal(error),
    openSource: (context, deps) =>
      createMessageSource(context, {
        ...deps,
        async handleMessage(message) {
          void sleep(WRITE_DELAY_MS).then(() => deps.handleMessage(message));
          return 'accepted';
        },
      }),
  });
  logger.info({ httpPort, mqttPort }, 'ready');
});
