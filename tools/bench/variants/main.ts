import { createMessageSource } from '../../../api/mqtt/index.ts';
import { createLogger } from '../../../api/observability/logger.ts';
import { startSystem } from '../../../api/system.ts';
import { runCommand } from '../../../common/command.ts';
import { readSettings } from '../../../common/settings/index.ts';
import type { Shape } from '../load/shapes.ts';
import { serve } from '../process/child.ts';
import { createGate } from './gate.ts';
import { createLoopSource } from './loop-source.ts';
import { STORES } from './stores.ts';

// Runs ingest with one part replaced: BENCH_STORE names the store, BENCH_GATE fixes the requests in flight, and BENCH_LOOP
// replaces the broker.
await runCommand(async () => {
  const { BENCH_STORE, BENCH_GATE, BENCH_LOOP } = process.env;
  const config = readSettings(process.env, { envFile: '' });
  const logger = createLogger(config.logLevel);
  const gate = createGate();
  const openStore = STORES[BENCH_STORE || 'packed'] as typeof STORES.packed;
  let loop: ReturnType<typeof createLoopSource> | null = null;
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
      begin: (shape: Shape) => loop?.begin(shape),
      end: () => loop?.end(),
    },
    () => system.stop(),
  );
});
