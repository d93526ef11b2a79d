import { dashboard } from './dashboard.js';

/** The data of the fleet, sent and stored: for the operator of the devices. */
export const fleet = dashboard({
  uid: 'millrace-fleet',
  title: 'Millrace: fleet',
  description: 'What the fleet sends, what of it is stored, how old it is by then, and what is refused.',
  panels: [
    {
      title: 'Samples stored',
      description: 'Committed each second, by all processes.',
      type: 'stat',
      width: 6,
      unit: 'short',
      queries: { 'samples/s': 'job:iot_ingest_samples:rate5m{job="$job"}' },
    },
    {
      title: 'Refused',
      description: 'Share of measurements that became dead letters. Over 1 % is an alert.',
      type: 'stat',
      width: 6,
      unit: 'percentunit',
      limit: 0.01,
      queries: { refused: 'job:iot_ingest_refused:ratio5m{job="$job"}' },
    },
    {
      title: 'Age when stored, p99',
      description: "From a sample's own time to its commit: what a device waits before it sends is in it.",
      type: 'stat',
      width: 6,
      unit: 's',
      queries: { p99: 'job:iot_ingest_end_to_end_seconds:p99_5m{job="$job"}' },
    },
    {
      title: 'Members offline',
      description: 'Processes of the share group that are not there: the broker keeps their share for them.',
      type: 'stat',
      width: 6,
      unit: 'short',
      limit: 1,
      queries: { offline: 'max(iot_share_group_members{job="$job", state="offline"})' },
    },
    {
      title: 'Samples and refusals',
      description: 'Refusals by code; docs/reference/errors.md explains each.',
      unit: 'short',
      queries: {
        stored: 'sum(rate(iot_ingest_samples_total{job="$job"}[$__rate_interval]))',
        '{{code}}': 'sum by (code) (rate(iot_ingest_dead_letters_total{job="$job"}[$__rate_interval])) > 0',
      },
    },
    {
      title: 'Messages',
      description: 'Unknown topics are outside the contract: some client publishes on them.',
      unit: 'short',
      queries: {
        '{{result}}': 'sum by (result) (rate(iot_ingest_messages_total{job="$job"}[$__rate_interval]))',
      },
    },
    {
      title: 'Age when stored',
      description:
        'Devices that send once a minute have up to a minute in it. A step up for all at once is ours.',
      unit: 's',
      queries: Object.fromEntries(
        [50, 95, 99].map((percent) => [
          `p${percent}`,
          `histogram_quantile(0.${percent}, sum by (le) (rate(iot_ingest_end_to_end_seconds_bucket{job="$job"}[$__rate_interval])))`,
        ]),
      ),
    },
    {
      title: 'Late, relative, in conflict',
      description:
        'Late samples go into history one by one. Relative times may be stored twice when a broker sends again.',
      unit: 'short',
      queries: {
        late: 'sum(rate(iot_ingest_late_samples_total{job="$job"}[$__rate_interval]))',
        'relative times': 'sum(rate(iot_ingest_relative_times_total{job="$job"}[$__rate_interval]))',
        'two values for an instant': 'sum(rate(iot_ingest_conflicts_total{job="$job"}[$__rate_interval]))',
        'merged with an equal instant': 'sum(rate(iot_ingest_merged_total{job="$job"}[$__rate_interval]))',
        'not stored kinds': 'sum(rate(iot_ingest_skipped_total{job="$job"}[$__rate_interval]))',
      },
    },
    {
      title: 'Rebirths, oversized and forbidden messages',
      description:
        'Sparkplug nodes that we had to ask for their birth, devices that send more than MAX_MESSAGE_BYTES, and those that the embedded broker turns away for want of rights.',
      unit: 'short',
      queries: {
        rebirths: 'sum(rate(iot_sparkplug_rebirth_requests_total{job="$job"}[$__rate_interval]))',
        'too large': 'sum(rate(iot_ingest_oversized_total{job="$job"}[$__rate_interval]))',
        'turned away, {{what}}':
          'sum by (action) (rate(iot_broker_denied_total{job="$job"}[$__rate_interval]))',
      },
    },
    {
      title: 'Who runs',
      description: 'Processes by their heartbeats, and members of the share group.',
      unit: 'short',
      queries: {
        'processes {{state}}': 'max by (state) (iot_processes{job="$job"})',
        'members {{state}}': 'max by (state) (iot_share_group_members{job="$job"})',
      },
    },
  ],
});
