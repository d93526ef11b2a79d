/** Hourly statistics of assets, which packed hours and edits of the tree make due, and the series that are read from them. */
import { randomUUID } from 'node:crypto';
import { groupOf, type Identity } from '../../../../schema/ids.ts';
import { createLeases, Rounds, Steps } from '../../../background/index.ts';
import type { Core } from '../../../feature.ts';
import { createLeaseStore, Retry } from '../../../store/index.ts';
import { AssetSeries } from './asset-series.ts';
import { DueNotices } from './due-notices.ts';
import { PendingChanges } from './pending-changes.ts';
import { Recompute } from './recompute.ts';
import type { RolledTree } from './rolled-tree.ts';
import { Rolling } from './rolling.ts';
import { createRollUpStore } from './store.ts';

export { placementsBelow } from './below.ts';
export { SERIES_SCHEMAS, type SeriesRouteDeps, seriesRoute } from './route.ts';

/** In ms. The database may not answer the last request of an ending process. */
const STOP_WITHIN_MS = 3000;

/** `rollUps`: interval of the check for roll-ups that are due */
const PERIODS_MS = { rollUps: 30_000 };

/** Create it before the tree reads its log, because edits are noted while they are read. */
export function createRollUps(
  core: Pick<Core, 'context' | 'store' | 'reading' | 'health'>,
  {
    tree,
    refresh,
  }: {
    tree: RolledTree;
    /** reads the newest edits of the tree */
    refresh: () => Promise<void>;
  },
) {
  const pending = new PendingChanges();
  tree.onChange(pending.note);
  const rollUps = createRollUpStore(core.store.session);
  const store = { groups: core.store.groups, rollUps };
  const series = new AssetSeries({ tree, pending, store, reading: core.reading });
  let forgetting: NodeJS.Timeout | undefined;
  // A process without ingest does not pack.
  const worker = core.context.config.role === 'http' ? null : createWorker(core, { tree, refresh, pending });
  return {
    series,
    onPacked: worker?.onPacked,

    /** Keeps the types of the sensors, which the registry forgets and roll-ups of earlier hours need. */
    async onRetiring({ id, bytes }: Identity) {
      if (tree.device(id)) await rollUps.keepSensors({ group: groupOf(bytes, core.store.groups), bytes });
    },

    start() {
      if (worker) return worker.start();
      // Without a worker, the edits that others have rolled up would stay in memory.
      const forget = () => void series.forgetRolled().catch(() => {});
      forgetting = setInterval(forget, core.context.periodsOf(PERIODS_MS).rollUps).unref();
    },

    async stop() {
      clearInterval(forgetting);
      await worker?.stop();
    },
  };
}

function createWorker(
  { context, store, health }: Pick<Core, 'context' | 'store' | 'health'>,
  {
    tree,
    refresh,
    pending,
  }: {
    tree: RolledTree;
    refresh: () => Promise<void>;
    pending: PendingChanges;
  },
) {
  const rollUps = createRollUpStore(store.everywhere.session);
  const { config, clock, logger, metrics, periodsOf } = context;
  const rolled = metrics.declare.counter(
    'iot_asset_roll_up_hours_total',
    'Hours of assets and types whose roll-up was written',
  );
  const lagMs = (): number => rolling.lagMs(clock());
  const createRetry = () => new Retry({ logger, onRetry: () => metrics.retries.inc() });
  const steps = new Steps({
    retry: createRetry(),
    isPressed: store.health.isPressed,
    overdueMs: () => lagMs() || 0,
  });
  const recompute = new Recompute({
    tree,
    store: { packed: store.packed, groups: store.groups, rollUps },
    steps,
    clock: health.clockGuard,
    onRolled: (hours) => rolled.inc(hours),
  });
  const rolling = new Rolling({
    tree,
    refresh,
    pending,
    recompute,
    store: { packProgress: store.packProgress, groups: store.groups, rollUps },
    clock: health.clockGuard,
    historyDays: config.retention.historyDays,
    steps,
    leases: createLeases({
      store: createLeaseStore(store.session, 'asset_lease'),
      owner: `${config.mqtt.clientId}:${randomUUID()}`,
      logger,
    }),
  });
  metrics.gauge(
    'iot_asset_roll_up_lag_seconds',
    'Time for which the oldest packed hours could have been rolled up to assets; a few minutes are normal',
    () => lagMs() / 1000,
  );
  // Packing waits for the notices, so they never rest.
  const retry = createRetry();
  const notices = new DueNotices({
    tree,
    refresh,
    store: rollUps,
    clock: health.clockGuard,
    run: (request) => retry.run(request),
  });
  const rounds = new Rounds({
    steps,
    pauseMs: periodsOf(PERIODS_MS).rollUps,
    work: () => rolling.rollDue(),
    logger,
    failed: 'roll-ups of assets failed, and go on with the next check',
  });
  return {
    onPacked: notices.note,
    start: () => rounds.start(),
    async stop() {
      retry.abort();
      await rounds.stop(STOP_WITHIN_MS);
    },
  };
}
