import { dashboard } from './dashboard.js';

/** @import { Panel } from './panels.js' */

const OF = '{job="$job", instance=~"$instance"}';

/** Gauges that show a wrong query, for developers who add one. */
export const cqlQueryRules = dashboard({
  uid: 'millrace-cql-habits',
  title: 'Millrace: CQL query rules',
  description:
    'What every request should be: prepared, paged, without ALLOW FILTERING, at CQL_CONSISTENCY. First as Millrace sends it, then as ScyllaDB counts it for all clients.',
  panels: [
    ...Object.entries({
      unprepared: 'Parsed each time: give it to the store as a statement.',
      unpaged: 'All rows at once, however many: set fetchSize.',
      filtering: 'ALLOW FILTERING reads what it does not return: make a table for the query.',
      consistency: 'Not at CQL_CONSISTENCY: what is read may not be what was acknowledged.',
    }).map(
      ([rule, advice]) =>
        /** @type {Panel} */ ({
          title: `Ours: ${rule}`,
          description: `${advice} Always 0.`,
          type: 'stat',
          width: 6,
          unit: 'short',
          limit: 1,
          queries: {
            [rule]: `sum(increase(iot_db_wrong_habits_total{job="$job", instance=~"$instance", habit="${rule}"}[$__range]))`,
          },
        }),
    ),
    {
      title: 'Requests by statement',
      description: 'Each by its name in api/store.',
      unit: 'reqps',
      queries: { '{{query}}': `sum by (query) (rate(iot_db_request_seconds_count${OF}[$__rate_interval]))` },
    },
    {
      title: 'Time by statement, p99',
      description: 'One that stands out is the one to look at.',
      unit: 's',
      queries: {
        '{{query}}': `histogram_quantile(0.99, sum by (query, le) (rate(iot_db_request_seconds_bucket${OF}[$__rate_interval])))`,
      },
    },
    {
      title: 'Failed requests',
      description: 'Timeouts, nodes that went away, content that the database refuses.',
      unit: 'reqps',
      queries: {
        '{{query}}': `sum by (query) (rate(iot_db_request_seconds_count{job="$job", instance=~"$instance", ok="false"}[$__rate_interval]))`,
      },
    },
    {
      title: 'Nodes, stale index rows',
      description:
        'Nodes as each process sees them. Index rows that latest contradicts are removed when they are read.',
      unit: 'short',
      queries: {
        'nodes {{state}}': `max by (state) (iot_db_nodes${OF})`,
        'stale in {{index}}': `sum by (index) (rate(iot_db_stale_index_rows_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'ScyllaDB: not prepared, not paged, filtering, backwards',
      description: 'Of all clients, including manual tools.',
      unit: 'reqps',
      queries: {
        'not prepared': 'sum(rate(scylla_query_processor_statements_prepared[$__rate_interval]))',
        'not paged': 'sum(rate(scylla_cql_unpaged_select_queries[$__rate_interval]))',
        'ALLOW FILTERING': 'sum(rate(scylla_cql_select_allow_filtering[$__rate_interval]))',
        'against the order': 'sum(rate(scylla_cql_reverse_queries[$__rate_interval]))',
        scans: 'sum(rate(scylla_cql_select_partition_range_scan[$__rate_interval]))',
      },
    },
    {
      title: 'ScyllaDB: requests by consistency level',
      description: 'LOCAL_QUORUM, and LOCAL_SERIAL for leases.',
      unit: 'reqps',
      queries: {
        '{{consistency_level}}':
          'sum by (consistency_level) (rate(scylla_query_processor_queries[$__rate_interval]))',
      },
    },
  ],
});
