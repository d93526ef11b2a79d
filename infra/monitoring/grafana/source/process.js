import { dashboard } from './dashboard.js';

const OF = '{job="$job", instance=~"$instance"}';

/** How each process is: for the engineer who deployed a new version. */
export const processes = dashboard({
  uid: 'millrace-process',
  title: 'Millrace: process',
  description:
    'Each process: what it is, CPU, memory, event loop, HTTP, live changes, clocks and certificates.',
  panels: [
    {
      title: 'Versions',
      description: 'How many processes run of each version and role.',
      type: 'stat',
      width: 24,
      unit: 'short',
      queries: { '{{version}} {{role}}': `count by (version, role) (iot_build_info${OF})` },
    },
    {
      title: 'CPU',
      description: 'One process uses one core, and a little more for garbage.',
      unit: 'percentunit',
      queries: { '{{instance}}': `rate(process_cpu_seconds_total${OF}[$__rate_interval])` },
    },
    {
      title: 'Memory',
      description: 'Resident. It stays where it is under load: what waits is bounded.',
      unit: 'bytes',
      queries: { '{{instance}}': `process_resident_memory_bytes${OF}` },
    },
    {
      title: 'Event loop lag, p99',
      description: 'How late something due is done. Tens of milliseconds are busy, seconds are trouble.',
      unit: 's',
      queries: { '{{instance}}': `nodejs_eventloop_lag_p99_seconds${OF}` },
    },
    {
      title: 'Garbage collection',
      description: 'Share of time.',
      unit: 'percentunit',
      queries: {
        '{{instance}} {{kind}}': `rate(nodejs_gc_duration_seconds_sum${OF}[$__rate_interval])`,
      },
    },
    {
      title: 'HTTP requests',
      description: 'By status.',
      unit: 'reqps',
      queries: {
        '{{status}}': `sum by (status) (rate(iot_http_request_seconds_count${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'HTTP time, p99',
      description: 'By route.',
      unit: 's',
      queries: {
        '{{route}}': `histogram_quantile(0.99, sum by (route, le) (rate(iot_http_request_seconds_bucket${OF}[$__rate_interval])))`,
      },
    },
    {
      title: 'Under way',
      description: 'Requests being answered, and among them readers of the live stream.',
      unit: 'short',
      queries: {
        'requests {{instance}}': `iot_http_in_flight${OF}`,
        'readers {{instance}}': `iot_http_streams${OF}`,
      },
    },
    {
      title: 'Live changes',
      description:
        'Dropped: the broker is away or slow; readers get it within half a minute, and then it counts as resynced.',
      unit: 'short',
      queries: {
        '{{result}}': `sum by (result) (rate(iot_live_messages_total${OF}[$__rate_interval]))`,
        resynced: `sum(rate(iot_live_resynced_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: "Clock against the database's",
      description: 'From a minute on nothing is acknowledged.',
      unit: 's',
      limit: 10,
      queries: { '{{instance}}': `iot_clock_difference_seconds${OF}` },
    },
    {
      title: 'Certificates expire in',
      description:
        'New files are taken without a restart; refused ones are not, and the old one stays in use.',
      unit: 's',
      queries: {
        '{{purpose}} {{instance}}': `iot_tls_certificate_expires_seconds${OF} - time()`,
        'refused {{purpose}} {{instance}}': `iot_tls_certificate_refused${OF} > 0`,
      },
    },
    {
      title: 'Connections refused',
      description: 'A flood, or too many devices at once for one process; see the reason.',
      unit: 'short',
      queries: {
        '{{listener}} {{reason}}': `sum by (listener, reason) (rate(iot_connections_refused_total${OF}[$__rate_interval]))`,
      },
    },
  ],
});
