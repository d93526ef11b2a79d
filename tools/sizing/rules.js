/**
 * A number that others state, with its source. `npm run size:docs` writes all of them to docs/explanation/sizing.md.
 *
 * @typedef {{ value: number, unit: string, label: string, source: string }} Rule
 */

/** @satisfies {Record<string, Rule>} */
export const RULES = {
  leastNodes: {
    value: 3,
    unit: 'nodes',
    label: 'smallest cluster: one node in each of three racks; it grows by three',
    source:
      'three copies, one in each rack: infra/terraform, infra/kubernetes; `min_nodes` of ScyllaDB Cloud',
  },
  freeDisk: {
    value: 10e12,
    unit: 'bytes',
    label: "disk capacity that is free under ScyllaDB's license",
    source: 'https://www.scylladb.com/source-available-faq, read in November 2026',
  },
  freeVcpus: {
    value: 50,
    unit: 'vCPUs',
    label: 'vCPUs of database nodes that are free under the same license',
    source: 'https://www.scylladb.com/source-available-faq, read in November 2026',
  },
  scyllaNodes: {
    value: 300,
    unit: 'nodes',
    label: 'largest ScyllaDB cluster: the manual names "low hundreds", taken as this number',
    source: 'https://docs.scylladb.com/manual/master/reference/limits.md, read in November 2026',
  },
  testedNodes: {
    value: 1000,
    unit: 'nodes',
    label: 'largest Cassandra cluster with a published test',
    source: 'https://www.datastax.com/blog/testing-cassandra-1000-nodes-time',
  },
  brokerConnections: {
    value: 100e6 / 23,
    unit: 'connections',
    label: 'connections of each node of a clustered broker: 100 million on 23 nodes of EMQX',
    source: 'https://www.emqx.com/en/blog/reaching-100m-mqtt-connections-with-emqx-5-0',
  },
  packAhead: {
    value: 2,
    unit: 'times',
    label: 'speed of packing against the speed at which hours close, to catch up after a pause',
    source: 'our choice',
  },
  openTables: {
    value: 4,
    unit: 'SSTables',
    label: 'SSTables that wait in an open window of a shard before a compaction; a closed window has one',
    source: '`min_threshold` of size-tiered compaction within a window, Cassandra and ScyllaDB',
  },
};

/**
 * EC2 types that infra/terraform/modules/aws-ec2 takes: vCPUs and their own disks, in bytes. i8g is Arm, i7i x86; a vCPU of
 * the bench's machine counts as one of theirs, and so is not proven for either.
 *
 * @type {Record<string, { vcpus: number, diskBytes: number }>}
 */
export const NODES = Object.fromEntries(
  ['i7i', 'i8g'].flatMap((family) =>
    [1, 2, 4, 8, 16].map((size) => [
      `${family}.${size === 1 ? '' : size}xlarge`,
      { vcpus: 4 * size, diskBytes: Math.floor(937.5 * size) * 1e9 },
    ]),
  ),
);
