import { dashboard } from './dashboard.js';

const OF = '{job="$job", instance=~"$instance"}';

/** The way from a message to its acknowledgement: for the engineer on call. */
export const ingest = dashboard({
  uid: 'millrace-ingest',
  title: 'Millrace: ingest',
  description: 'The way from a message to its commit, what holds it up, and packing behind it.',
  panels: [
    {
      title: 'Standstill',
      description: 'Since the last message was settled, while messages wait. Over a minute is an alert.',
      unit: 's',
      limit: 60,
      queries: { '{{instance}}': `iot_ingest_standstill_seconds${OF}` },
    },
    {
      title: 'Time to commit',
      description:
        'From the receipt of a message to its last commit. The objective is one second for 99 of 100.',
      unit: 's',
      limit: 1,
      queries: Object.fromEntries(
        [50, 95, 99].map((percent) => [
          `p${percent}`,
          `histogram_quantile(0.${percent}, sum by (le) (rate(iot_ingest_commit_seconds_bucket${OF}[$__rate_interval])))`,
        ]),
      ),
    },
    {
      title: 'The window',
      description:
        'Requests in flight follow what the database takes. In flight at the window for long: the database is at its limit.',
      unit: 'short',
      queries: {
        'in flight {{instance}}': `iot_ingest_in_flight${OF}`,
        'window {{instance}}': `iot_ingest_window${OF}`,
        'limit {{instance}}': `iot_ingest_window_limit${OF}`,
      },
    },
    {
      title: 'Waiting',
      description:
        'Requests that wait for a place in the window: back-pressure. What waits here is not acknowledged yet.',
      unit: 'short',
      queries: {
        'requests {{instance}}': `iot_ingest_waiting${OF}`,
        'messages {{instance}}': `iot_ingest_unsettled_messages${OF}`,
      },
    },
    {
      title: 'Bytes being settled',
      description: 'Message sources stop reading at 64 MiB.',
      unit: 'bytes',
      queries: {
        'messages {{instance}}': `iot_ingest_unsettled_bytes${OF}`,
        'posts {{instance}}': `iot_ingest_submitted_bytes${OF}`,
      },
    },
    {
      title: 'Repeated requests, large partitions, dropped messages',
      description:
        'Requests are repeated while the database does not take them. What a broker drops is lost.',
      unit: 'short',
      queries: {
        repeated: `sum(rate(iot_ingest_retries_total${OF}[$__rate_interval]))`,
        'large partitions': `sum(rate(iot_ingest_large_partitions_total${OF}[$__rate_interval]))`,
        'dropped by the broker': `max(rate(iot_broker_dropped_messages${OF}[$__rate_interval]))`,
        'not forwarded': `sum(rate(iot_broker_forwards_dropped_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'Packing behind',
      description: 'Two to three hours when all is well. At a quarter of BATCH_DAYS somebody has to look.',
      unit: 's',
      queries: {
        lag: `max(iot_pack_lag_seconds${OF})`,
        limit: `min(iot_pack_lag_limit_seconds${OF})`,
      },
    },
    {
      title: 'Packed',
      description: 'Once an hour, for the hour before the last.',
      unit: 'short',
      queries: {
        'samples/s': `sum(rate(iot_pack_samples_total${OF}[$__rate_interval]))`,
        'sensor hours/s': `sum(rate(iot_pack_hours_total${OF}[$__rate_interval]))`,
        'unreadable rows/s': `sum(rate(iot_pack_unreadable_rows_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'One hour of one group, packed',
      description: 'Giving way to ingest included: long while ingest is under pressure.',
      unit: 's',
      queries: {
        p95: `histogram_quantile(0.95, sum by (le) (rate(iot_pack_seconds_bucket${OF}[1h])))`,
      },
    },
  ],
});
