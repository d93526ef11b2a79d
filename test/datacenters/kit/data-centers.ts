import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from '../../../api/store/connect.ts';
import { migrateDatabase } from '../../../api/store/setup/index.ts';
import type { Config } from '../../../common/settings/config.ts';
import { readSettings } from '../../../common/settings/index.ts';
import type { Cluster } from '../../../infra/engine/cluster.ts';
import { startCluster } from '../../../infra/engine/index.ts';
import type { Link } from '../../../infra/engine/link.ts';
import type { Member } from '../../../infra/engine/member.ts';
import { createProgress } from '../../cluster/kit/progress.ts';
import { ENGINE_DIR } from '../../support/database/engine.ts';
import { until } from '../../support/until.ts';

/** Delay between the data centers, as between Frankfurt and Virginia. */
export const ROUND_TRIP_MS = 80;

export const DATA_CENTERS = ['dc1', 'dc2'];

export interface DataCenter {
  name: string;
  settings: Record<string, string>;
  config: Config;
  nodes: Member[];
}

export interface TwoDataCenters {
  directory: string;
  cluster: Cluster;
  link: Link;
  /** dc1 and dc2 */
  dataCenters: [DataCenter, DataCenter];
  report: (text: string) => void;
  stop: () => Promise<void>;
}

/** Starts two data centers of three nodes each, and creates a keyspace with three copies in each. */
export async function startDataCenters({ keyspace }: { keyspace: string }): Promise<TwoDataCenters> {
  const { report, reportStatus } = createProgress(process.stderr);
  const directory = await mkdtemp(join(tmpdir(), 'millrace-datacenters-'));
  const cluster = await startCluster({
    dataDir: join(directory, 'cluster'),
    engineDir: ENGINE_DIR,
    dataCenters: DATA_CENTERS,
    roundTripMs: ROUND_TRIP_MS,
    onStatus: reportStatus,
  });
  report('two data centers of three nodes are up');
  const dataCenters = DATA_CENTERS.map((name) => openDataCenter(cluster, name, keyspace)) as [
    DataCenter,
    DataCenter,
  ];
  await createKeyspace(dataCenters[0].config);
  await migrateDatabase(dataCenters[0].config);
  await cluster.keepSchema();
  report('the keyspace has three copies in each');
  return {
    directory,
    cluster,
    link: cluster.link as Link,
    dataCenters,
    report,
    async stop() {
      await cluster.close();
      await rm(directory, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

function openDataCenter(cluster: Cluster, name: string, keyspace: string): DataCenter {
  const nodes = cluster.nodes.filter(({ dataCenter }) => dataCenter === name);
  const settings = {
    CQL_CONTACT_POINTS: nodes.map(({ contactPoint }) => contactPoint).join(','),
    CQL_LOCAL_DC: name,
    CQL_KEYSPACE: keyspace,
    CURSOR_SECRET: 'one secret for all',
    HTTP_PORT: '0',
    LATEST_GROUPS: '4',
    LOG_LEVEL: 'info',
    MQTT_CLIENT_ID: `ingest-${name}`,
  };
  return { name, settings, config: readSettings(settings, { envFile: '' }), nodes };
}

async function createKeyspace({ cql }: Config) {
  const copies = DATA_CENTERS.map((name) => `'${name}': 3`).join(', ');
  const admin = await connect(cql, { applicationName: 'test' });
  try {
    await admin.execute(
      `CREATE KEYSPACE ${cql.keyspace} WITH replication = {'class': 'NetworkTopologyStrategy', ${copies}}`,
      [],
      { prepare: false, readTimeout: 60_000 },
    );
  } finally {
    await admin.shutdown();
  }
}

/** Opens the link, and waits until the nodes of both data centers see each other. */
export async function heal({ link, dataCenters, cluster, report }: TwoDataCenters, withinMs: number) {
  link.open();
  const began = Date.now();
  for (const { nodes } of dataCenters) {
    const isWhole = async () => {
      const status = await nodes[0]?.nodetool(['status']);
      return status?.match(/^UN /gm)?.length === cluster.nodes.length;
    };
    await until(isWhole, { withinMs, what: 'all nodes' });
  }
  report(`all nodes see each other ${Math.round((Date.now() - began) / 1000)} s after the link is back`);
}
