import { Counter, Histogram } from 'prom-client';
import { createPermits } from '../../../api/ingest/backpressure/window.js';
import { createMessageSource } from '../../../api/mqtt/index.js';
import { createLogger } from '../../../api/observability/logger.js';
import { startSystem } from '../../../api/system.js';
import { runCommand } from '../../../common/command.js';
import { readSettings } from '../../../common/settings/index.js';
import { serve } from '../environment/service.js';
import { createLoopSource } from './loop-source.js';
import { STORES } from './stores.js';

/** @import { Shape } from '../load/shapes.js' */

// Our own ingest with one part of it changed: BENCH_STORE names the way to store, BENCH_GATE fixes the requests in
// flight, BENCH_LOOP leaves the broker away, BENCH_UNCOUNTED the metrics.
await runCommand(async () => {
  const { BENCH_STORE, BENCH_GATE, BENCH_LOOP, BENCH_UNCOUNTED } = process.env;
  if (BENCH_UNCOUNTED) countNothing();
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
    openSource(parts) {
      if (!BENCH_LOOP) return createMessageSource(parts);
      loop = createLoopSource(parts);
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

/** Requests in flight of a baseline until a sweep has found its best number. */
const FIRST = 128;

/**
 * Ingest's own permits with a fixed bound: what a baseline is swept over, where ingest finds its own.
 */
export function createGate() {
  const bound = { size: FIRST };
  const permits = createPermits(bound);

  return {
    enter: permits.enter,
    leave: permits.leave,
    cancel: permits.cancel,
    /** @param {number} number of requests in flight from now on */
    set(number) {
      bound.size = number;
      permits.goOn();
    },
  };
}

/** @typedef {ReturnType<typeof createGate>} Gate */

/** What the bench itself reads. */
const NEEDED = new Set(['iot_ingest_samples_total', 'iot_ingest_dead_letters_total']);

/**
 * Has Prometheus' counters and histograms in this process count nothing but what the bench reads. These are the methods that
 * prom-client (15) gives to each of them as its `inc` and `observe`; a test sees that nothing is counted.
 */
function countNothing() {
  const counting = /** @type {{ incWithoutExemplar: Function }} */ (
    /** @type {unknown} */ (Counter.prototype)
  );
  const { incWithoutExemplar } = counting;
  /** @this {{ name: string }} @param {any[]} given */
  counting.incWithoutExemplar = function incNeeded(...given) {
    if (NEEDED.has(this.name)) Reflect.apply(incWithoutExemplar, this, given);
  };
  Object.assign(Histogram.prototype, { observeWithoutExemplar() {} });
}
