import type { Context } from './observability/index.ts';
import type { Metrics } from './observability/metrics.ts';
import { ClockGuard, connectStore, type Store } from './store/index.ts';
import type { OpenStamps } from './store/sending/stamps.ts';

/**
 * The clock guard compares the clock of the process with that of the database.
 * @throws `database_away`, `bad_settings`, `schema_differs`
 */
export async function openDatabase(
  { config, clock, logger, metrics }: Context,
  deps: {
    /** stamps the commits of this process; undefined: it commits no samples, or no feature follows them */
    openStamps: OpenStamps | undefined;
    /** tests and benchmarks replace it */
    openStore?: typeof connectStore;
    /** difference between `clock` and the clock of the database, in ms; only for tests that set `clock` */
    clockDifference?: () => Promise<number>;
    /** how often the two clocks are compared; tests shorten it */
    comparing?: ConstructorParameters<typeof ClockGuard>[0]['periods'];
  },
): Promise<{ store: Store; clockGuard: ClockGuard }> {
  const { openStore = connectStore, openStamps } = deps;
  const store = await openStore({
    cql: config.cql,
    retention: config.retention,
    maxInFlight: config.ingest.maxInFlight,
    observe: metrics.databaseSeconds.observe.bind(metrics.databaseSeconds),
    onStaleIndex: (index) => metrics.staleIndexRows.inc({ index }),
    onBrokenRule: (rule) => metrics.brokenQueryRules.inc({ rule }),
    hooks: {
      logger,
      onRetry: () => metrics.retries.inc(),
      onLargePartition: () => metrics.largePartitions.inc(),
    },
    openStamps,
    clock,
  });
  try {
    const difference = deps.clockDifference ?? store.health.clockDifference;
    const clockGuard = new ClockGuard({ clock, difference, logger, periods: deps.comparing });
    store.stamps.trustClock(() => clockGuard.isTrusted);
    exposeDatabase(metrics, { store, clockGuard });
    return { store, clockGuard };
  } catch (error) {
    await store.close();
    throw error;
  }
}

/** Prometheus reads the values of these gauges at each scrape. */
function exposeDatabase(
  { gauge, states }: Metrics,
  { store, clockGuard }: { store: Store; clockGuard: ClockGuard },
) {
  const { pressure, nodes } = store.health;
  gauge('iot_ingest_in_flight', 'Running requests to the database', () => pressure().in_flight);
  gauge(
    'iot_ingest_window',
    'Congestion window: the current limit of running requests to the database',
    () => pressure().window,
  );
  gauge(
    'iot_ingest_window_limit',
    'Upper limit of the window: INGEST_MAX_IN_FLIGHT',
    () => pressure().window_limit,
  );
  gauge(
    'iot_ingest_waiting',
    'Requests to the database that wait for a place in the window',
    () => pressure().waiting,
  );
  gauge(
    'iot_clock_difference_seconds',
    'Difference between the clock of this machine and the clock of the database, positive if ahead; missing until it is measured',
    () => clockGuard.differenceMs / 1000,
  );
  states('iot_db_nodes', 'Nodes of the database, as seen by this process: up, down', () => {
    const all = nodes();
    const up = all.filter((node) => node.up).length;
    return { up, down: all.length - up };
  });
}
