/**
 * Metrics of ScyllaDB that dashboards query, from its own help texts (cql3/query_processor.cc). No ScyllaDB runs in the tests.
 */
export const SCYLLA_METRICS = [
  'scylla_query_processor_queries', // Counts queries by consistency level.
  'scylla_query_processor_statements_prepared', // Counts the total number of parsed CQL requests.
  'scylla_cql_unpaged_select_queries',
  'scylla_cql_select_allow_filtering',
  'scylla_cql_reverse_queries', // SELECT requests with reverse ORDER BY order.
  'scylla_cql_select_partition_range_scan',
  // ScyllaDB Manager, from its source (pkg/metrics/scheduler.go).
  'scylla_manager_scheduler_run_indicator', // For every task, whether it runs.
  'scylla_manager_scheduler_last_success', // The start of the last successful run of a task.
];
