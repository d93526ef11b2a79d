/**
 * A number that is not measured here but stated, and who says so. docs/explanation/sizing.md shows all of them, written by npm run
 * size:docs.
 *
 * @typedef {{ value: number, unit: string, says: string, source: string }} Rule
 */

/** @satisfies {Record<string, Rule>} */
export const RULES = {
  leastNodes: {
    value: 3,
    unit: 'nodes',
    says: 'a cluster begins with one node in each of three racks, and grows by three',
    source:
      'three copies, one in each rack: infra/terraform, infra/kubernetes; `min_nodes` of ScyllaDB Cloud',
  },
  freeDisk: {
    value: 10e12,
    unit: 'bytes',
    says: "of disks, filled or not, are free under ScyllaDB's licence",
    source: 'https://www.scylladb.com/source-available-faq, read in November 2026',
  },
  freeVcpus: {
    value: 50,
    unit: 'vCPUs',
    says: 'of database nodes are free under the same licence',
    source: 'https://www.scylladb.com/source-available-faq, read in November 2026',
  },
  scyllaOperations: {
    value: 12_500,
    unit: 'operations/s',
    says: "a physical core of ScyllaDB, two vCPUs: its makers' rule of thumb, which is shown beside and decides nothing",
    source:
      'https://docs.scylladb.com/manual/master/operating-scylla/procedures/tips/benchmark-tips.md, read in November 2026',
  },
  scyllaNodes: {
    value: 300,
    unit: 'nodes',
    says: 'of one ScyllaDB cluster: its manual says "low hundreds", which is taken for this many',
    source: 'https://docs.scylladb.com/manual/master/reference/limits.md, read in November 2026',
  },
  testedNodes: {
    value: 1000,
    unit: 'nodes',
    says: 'of one Cassandra cluster that somebody has tried and told about',
    source: 'https://www.datastax.com/blog/testing-cassandra-1000-nodes-time',
  },
  brokerConnections: {
    value: 100e6 / 23,
    unit: 'connections',
    says: 'of one node of a clustered broker: 100 million on 23 nodes of EMQX',
    source: 'https://www.emqx.com/en/blog/reaching-100m-mqtt-connections-with-emqx-5-0',
  },
  packAhead: {
    value: 2,
    unit: 'times',
    says: 'as fast as hours close must packing be, so that it catches up after a pause',
    source: 'our choice',
  },
  openTables: {
    value: 4,
    unit: 'SSTables',
    says: 'wait in a window that is still open, on each shard: so many make a compaction; a closed window becomes one',
    source: '`min_threshold` of size-tiered compaction within a window, Cassandra and ScyllaDB',
  },
  hoursAMonth: { value: 730, unit: 'hours', says: 'a month of cost', source: '8,760 / 12' },
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
