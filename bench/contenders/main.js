import { createIntake } from '../../api/ingest/intake.js';
import { createLogger } from '../../api/logger.js';
import { startSystem } from '../../api/system.js';
import { runCommand } from '../../common/command.js';
import { readSettings } from '../../common/settings/index.js';
import { serve } from '../stand/service.js';
import { createGate } from './gate.js';
import { createLoopIntake } from './loop-intake.js';
import { STORES } from './stores.js';
import { countNothing } from './uncounted.js';

// Our own ingest with one part of it changed: BENCH_STORE names the way to store, BENCH_GATE fixes the requests in
// flight, BENCH_LOOP leaves the broker away, BENCH_UNCOUNTED the metrics.
await runCommand(async () => {
  const { BENCH_STORE, BENCH_GATE, BENCH_LOOP, BENCH_UNCOUNTED } = process.env;
  if (BENCH_UNCOUNTED) countNothing();
  const config = readSettings(process.env, { envFile: '' });
  const logger = createLogger(config.logLevel);
  const gate = createGate();
  const openStore = /** @type {typeof STORES.packed} */ (STORES[BENCH_STORE || 'packed']);
  /** @type {ReturnType<typeof createLoopIntake> | null} */
  let loop = null;
  const system = await startSystem({
    config,
    version: 'bench',
    logger,
    openStore: BENCH_GATE ? (parts) => openStore({ ...parts, gate }) : openStore,
    openIntake(parts) {
      if (!BENCH_LOOP) return createIntake(parts);
      loop = createLoopIntake(parts);
      return loop.intake;
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
      begin: (/** @type {import('../load/shapes.js').Shape} */ shape) => loop?.begin(shape),
      end: () => loop?.end(),
    },
    () => system.stop(),
  );
});
