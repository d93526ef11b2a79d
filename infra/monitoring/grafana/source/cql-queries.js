import { dashboard } from './dashboard.js';

/** @import { Panel } from './panels.js' */

const OF = '{job="$job", instance=~"$instance"}';

/** Panels that show a request that breaks a query rule, for people who add one. */
export const cqlQueries = dashboard({
  uid: 'millrace-cql-queries',
  title: 'Millrace: CQL queries',
  description:
    'The query rules: every request is prepared, paged, without ALLOW FILTERING, and at CQL_CONSISTENCY. First the requests of Millrace, then the counts of ScyllaDB for all clients.',
  panels: [
    ...Object.entries({
      unprepared: 'Parsed again each time: pass it to the store as a statement.',
      unpaged: 'All rows at once, however many: set fetchSize.',
      filtering: 'ALLOW FILTERING reads what it does not return: make a table for the query.',
      consistency: 'Not at CQL_CONSISTENCY: what is read may not be what was acknowledged.',
    }).map(
      ([rule, reason]) =>
        /** @type {Panel} */ ({
          title: `Requests: ${rule}`,
          description: `${reason} Always 0.`,
          type: 'stat',
          width: 6,
          unit: 'short',
          limit: 1,
          queries: {
            [rule]: `sum(increase(iot_db_query_rule_violations_total{job="$job", instance=~"$instance", rule="${rule}"}[$__range]))`,
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
        'Nodes as each process sees them. Index rows that contradict latest are corrected when they are read.',
      unit: 'short',
      queries: {
        'nodes {{state}}': `max by (state) (iot_db_nodes${OF})`,
        'stale in {{index}}': `sum by (index) (rate(iot_db_stale_index_rows_total${OF}[$__rate_interval]))`,
      },
    },
    {
      title: 'ScyllaDB: not prepared, not paged, filtering, backwards',
      description: 'Requests of all clients, including tools such as cqlsh.',
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
