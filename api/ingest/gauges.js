/**
 * What Prometheus is told of the way into the database as it is when it asks.
 *
 * @param {import('../observability/metrics.js').Metrics} metrics
 * @param {object} parts
 * @param {import('./backpressure/window.js').Permits} parts.permits
 * @param {() => number} parts.waiting
 * @param {ReturnType<typeof import('./backpressure/window.js').createWindow>} parts.window
 * @param {number} parts.windowMost `INGEST_MAX_IN_FLIGHT`
 * @param {import('./index.js').Ingest} parts.ingest
 * @param {import('../store/clock-guard.js').TrustedClock} parts.trustedClock
 * @param {() => import('../store/nodes.js').DatabaseNode[]} parts.nodes
 */
export function exposePipeline(
  metrics,
  { permits, waiting, window, windowMost, ingest, trustedClock, nodes },
) {
  const { gauge, states } = metrics;
  gauge('iot_ingest_in_flight', 'Requests to the database in flight', () => permits.inUse);
  gauge(
    'iot_ingest_window',
    'Requests to the database that may be in flight, by what it can take now',
    () => window.size,
  );
  gauge(
    'iot_ingest_window_most',
    'The most that the window may grow to: INGEST_MAX_IN_FLIGHT',
    () => windowMost,
  );
  gauge('iot_ingest_waiting', 'Requests that wait for a place in the window', waiting);
  gauge(
    'iot_ingest_unsettled_messages',
    'Messages being settled: taken from the broker, not acknowledged yet',
    () => ingest.progress.unsettled,
  );
  gauge('iot_ingest_unsettled_bytes', 'Bytes of messages being settled', () => ingest.unsettledBytes);
  gauge(
    'iot_ingest_submitted_bytes',
    'Bytes of posts that are received or settled',
    () => ingest.submittedBytes,
  );
  gauge(
    'iot_ingest_standstill_seconds',
    'Since a message was settled and the database answered, while messages wait for it; 0: none waits',
    () => ingest.progress.standstillMs / 1000,
  );
  gauge(
    'iot_clock_difference_seconds',
    "How far this machine's clock is ahead of the database's; left out until they are compared",
    () => trustedClock.differenceMs / 1000,
  );
  states('iot_db_nodes', 'Nodes of the database as this process sees them: up, down', () => {
    const all = nodes();
    const up = all.filter((node) => node.up).length;
    return { up, down: all.length - up };
  });
}
