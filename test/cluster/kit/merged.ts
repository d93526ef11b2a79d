import type { Cluster } from '../../../infra/engine/cluster.ts';
import { connectDevice } from '../../support/mqtt/device.ts';
import { until } from '../../support/until.ts';
import { startOnCluster } from './sent.ts';

const CLIENTS = 8;
const DEVICES = 60;
const MESSAGES_PER_DEVICE = 12;

/** With so few concurrent requests, writes wait and leave together. */
const IN_FLIGHT = '3';

/** A node that has just restarted may still receive the schema. */
async function untilAgreed({ nodes }: Cluster) {
  const isAgreed = async () => {
    const text = (await nodes[0]?.nodetool(['describecluster'])) ?? '';
    const versions = text.match(/^\s+[0-9a-f-]{36}: \[.*\]$/gm) ?? [];
    return versions.length === 1 && versions[0]?.split(',').length === nodes.length;
  };
  await until(isAgreed, { withinMs: 120_000, what: 'one schema on all nodes' });
}

/** @param value as the caller passed it to the driver */
const textOf = (value: unknown) => (Buffer.isBuffer(value) ? value.toString('hex') : String(value));

/**
 * Publishes while one of three nodes is killed and comes back, in a keyspace of its own.
 * @param cluster with all nodes up
 * @param options `copies` of each partition
 * @returns the values of each device, the stored values of each device, and the highest number of partitions in one request
 */
export async function publishThroughKill(
  cluster: Cluster,
  { copies, afterwards }: { copies: number; afterwards: (task: () => unknown) => void },
): Promise<{ expected: number[]; found: Map<string, number[]>; partitions: number }> {
  await untilAgreed(cluster);
  let partitions = 0;
  const system = await startOnCluster(cluster, {
    settings: { CQL_KEYSPACE: `merged_${copies}`, INGEST_MAX_IN_FLIGHT: IN_FLIGHT, LATEST_GROUPS: '4' },
    copies,
    afterwards,
    onSent({ query }) {
      if (!Array.isArray(query)) return;
      const keys = query.map(({ params, meta }) =>
        meta.partitionKeys.map((index) => textOf(params[index])).join(),
      );
      partitions = Math.max(partitions, new Set(keys).size);
    },
  });
  await cluster.keepSchema();
  const clients = await Promise.all(Array.from({ length: CLIENTS }, () => connectDevice(system)));
  for (const client of clients) afterwards(() => client.end());
  const begin = Date.now() - 120_000;
  const names = Array.from({ length: DEVICES }, (_, index) => `merged-${index}`);
  const values = Array.from({ length: MESSAGES_PER_DEVICE }, (_, index) => index);
  const publish = (batch: number[]) =>
    Promise.all(
      batch.flatMap((value) =>
        names.map((name, index) =>
          clients[index % CLIENTS]?.measure(name, [{ sensor_id: 's', ts: begin + value * 1000, value }]),
        ),
      ),
    );
  await publish(values.slice(0, 2));
  const during = publish(values.slice(2));
  const victim = cluster.nodes[1];
  await victim?.kill();
  await cluster.start();
  await during;

  const found: Map<string, number[]> = new Map();
  for (const name of names) {
    const items = await system.all(`/devices/${name}/sensors/s/measurements`);
    found.set(
      name,
      items.map(({ value }) => Number(value)).sort((a, b) => a - b),
    );
  }
  return { expected: values, found, partitions };
}
