/** What is usual for each sensor at each hour, and which newest values are not. */
import { defineFeature } from '../../feature.ts';
import { Baselines } from './baselines.ts';
import { createLearning } from './learner.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';
import { createBaselineStore } from './store.ts';

/**
 * - `learn`: interval of the check for baselines to learn
 * - `baselines`: interval of the check for learned baselines to read
 */
const PERIODS_MS = { learn: 60_000, baselines: 60_000 };

export const baselinesFeature = defineFeature({
  name: 'baselines',
  schemas: SCHEMAS,
  routes,
  create(core) {
    const {
      context: { config, periodsOf },
      store,
      health: { clockGuard },
    } = core;
    const periods = periodsOf(PERIODS_MS);
    const table = createBaselineStore(store.session);
    const learning =
      config.role === 'http'
        ? null
        : createLearning(core.context, {
            store: { ...store, baselines: table },
            clockGuard,
            pauseMs: periods.learn,
          });
    const known = new Baselines(core.context, { store: table, everyMs: periods.baselines });
    const serves = config.role !== 'ingest';
    return {
      deps: { baselines: known },
      judge: known,
      start() {
        learning?.start();
        if (serves) known.start();
      },
      async stop() {
        known.stop();
        await learning?.stop();
      },
    };
  },
});
