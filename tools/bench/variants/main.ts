import { createMessageSource } from '../../../api/mqtt/index.js';
import { createLogger } from '../../../api/observability/logger.js';
import { startSystem } from '../../../api/system.js';
import { runCommand } from '../../../common/command.js';
import { readSettings } from '../../../common/settings/index.js';
import { serve } from '../process/child.js';
import { createGate } from './gate.js';
import { createLoopSource } from './loop-source.js';
import { STORES } from './stores.js';

/** @import { Shape } from '../load/shapes.js' */

// Runs ingest with one part replaced: BENCH_STORE names the store, BENCH_GATE fixes the requests in flight, and BENCH_LOOP
// replaces the broker.
await runCommand(async () => {
  const { BENCH_STORE, BENCH_GATE, BENCH_LOOP } = process.env;
  const config = readSettings(process.env, { envFile: '' });
  const logger = createLogger(config.logLevel);
  const gate = createGate();
  const openStore = /** @type {typeof STORES.packed} */ (STORES[BENCH_STORE || 'packed']);
  /** @type {ReturnType<typeof createLoopSource> | null} */
  let loop = null;
  const system = await startSystem({
    config,
    version: 'bench',
    logger,
    openStore: BENCH_GATE ? (parts) => openStore({ ...parts, gate }) : openStore,
    openSource(context, deps) {
      if (!BENCH_LOOP) return createMessageSource(context, deps);
      loop = createLoopSource(context, deps);
      return loop.source;
    },
    onFatal(error) {
      console.error(error);
      process.exit(1);
    },
  });
  logger.info({ httpPort: system.httpPort }, 'ready');
  serve(
    {
      inFlight: gate.set,
      begin: (/** @type {Shape} */ shape) => loop?.begin(shape),
      end: () => loop?.end(),
    },
    () => system.stop(),
  );
});
