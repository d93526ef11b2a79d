import { createLogger } from '../../../api/observability/logger.js';
import { startSystem } from '../../../api/system.js';
import { runCommand } from '../../../common/command.js';
import { readSettings } from '../../../common/settings/index.js';
import { serve } from '../process/child.js';
import { createGate } from './gate.js';
import { STORES } from './stores.js';

// Our own ingest with another store: BENCH_STORE names the store, BENCH_GATE fixes the requests in flight.
await runCommand(async () => {
  const { BENCH_STORE, BENCH_GATE } = process.env;
  const config = readSettings(process.env, { envFile: '' });
  const logger = createLogger(config.logLevel);
  const gate = createGate();
  const openStore = /** @type {typeof STORES.packed} */ (STORES[BENCH_STORE || 'packed']);
  const system = await startSystem({
    config,
    version: 'bench',
    logger,
    openStore: BENCH_GATE ? (parts) => openStore({ ...parts, gate }) : openStore,
    onFatal(error) {
      console.error(error);
      process.exit(1);
    },
  });
  logger.info({ httpPort: system.httpPort }, 'ready');
  serve({ inFlight: gate.set }, () => system.stop());
});
