import { createLogger } from '../../../api/observability/logger.ts';
import { startSystem } from '../../../api/system.ts';
import { runCommand } from '../../../common/command.ts';
import { readSettings } from '../../../common/settings/index.ts';
import { serve } from '../process/child.ts';
import { connectRowStore } from './rows.ts';

// Runs ingest with another store: one row per sample.
await runCommand(async () => {
  const config = readSettings(process.env, { envFile: '' });
  const logger = createLogger(config.logLevel);
  const system = await startSystem({
    config,
    version: 'bench',
    logger,
    openStore: connectRowStore,
    onFatal(error) {
      console.error(error);
      process.exit(1);
    },
  });
  logger.info({ httpPort: system.httpPort }, 'ready');
  serve({}, () => system.stop());
});
