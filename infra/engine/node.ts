import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cassandraYaml, type Ring, rackProperties, type Tls } from './cassandra-yaml.ts';
import { cassandraArguments, type Profile } from './command.ts';
import { answersCql } from './cql.ts';
import { checkDisk } from './disk.ts';
import { installEngine } from './install/index.ts';
import { createNodetool, type Nodetool } from './nodetool.ts';
import { checkEnginePort, HOST, rememberedPorts } from './ports.ts';
import { beginLog } from './process/log.ts';
import { NODE_FOLDER } from './process/previous.ts';
import { type Engine, runEngine } from './process/run.ts';
import { openServerDir } from './process/server-dir.ts';
import type { ServerOptions } from './server-options.ts';

export interface Place {
  host?: string;
  port: number;
  /** default: a free port, which stays the same at the next start */
  storagePort?: number;
  /** missing: the cluster has only this node */
  ring?: Ring;
}

/**
 * Starts one node of Apache Cassandra 5.0 and waits until it answers CQL. It runs in a separate process group, and ends at most 10 s after
 * this process, however this process ends.
 * @throws the same codes as `startEngine`
 */
export async function startNode(
  options: Required<Pick<ServerOptions, 'dataDir' | 'engineDir' | 'onStatus'>> & {
    place: Place;
    profile: Profile;
    auth?: boolean;
    tls?: Tls;
    durable?: boolean;
    settings?: Record<string, string>;
    signal?: AbortSignal;
  },
): Promise<Engine & { nodetool: Nodetool }> {
  const { dataDir, place, engineDir, profile, auth = false, durable = false } = options;
  const { settings, tls, onStatus, signal } = options;
  const { host = HOST, port, ring } = place;
  const { home, dir } = await openServerDir(dataDir, NODE_FOLDER, { onStatus, signal });
  await checkDisk(dir);
  await checkEnginePort(port, host);

  const { java, jars } = await installEngine(engineDir, { onStatus, signal });
  const config = join(dir, 'cassandra.yaml');
  const ports = await rememberedPorts(join(dir, 'ports.json'), ['storage', 'jmx']);
  const storagePort = place.storagePort ?? ports.storage;
  await writeFile(
    config,
    cassandraYaml({ dir, host, port, storagePort, auth, durable, tls, ring, settings }),
  );
  const site = ring?.site;
  const rackFile = join(dir, 'cassandra-rackdc.properties');
  if (site) await writeFile(rackFile, rackProperties(site));

  const log = join(home, 'logs', 'cassandra.log');
  const engine = await runEngine({
    command: {
      java,
      args: cassandraArguments({
        dir,
        jars,
        config,
        jmxPort: ports.jmx,
        profile,
        alone: !ring,
        ...(site && { rackFile }),
      }),
      cwd: dir,
    },
    dir,
    dataDir,
    log: { path: log, fd: beginLog(log) },
    server: {
      title: 'Cassandra',
      address: `${host}:${port}`,
      answers: () => answersCql({ host, port, ca: tls?.ca, pem: tls?.pem }),
      boots: '5 to 15 s',
      memory: '1.5 GB',
    },
    onStatus,
    signal,
  });
  return { ...engine, nodetool: createNodetool({ java, jars, home: dir, jmxPort: ports.jmx, signal }) };
}
