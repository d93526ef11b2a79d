import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBroker } from '../environment/broker.ts';
import type { Environment } from '../environment/index.ts';
import { Pipeline } from '../environment/pipeline.ts';
import { loadOf, samplesOf } from '../load/shapes.ts';
import { type Program, startProgram } from '../process/program.ts';
import type { PeerDatabase } from './databases.ts';
import { type Class, DEFAULT_TUNING, type Tuning, telegrafToml, tuningOf } from './settings.ts';

export type Name = 'millrace' | 'questdb';

export interface ComparedSystem {
  name: Name;
  format: 'senml' | 'lines';
  databasePid: () => number;
  /** @param load such as `4x10` @param observed a proxy observes the acknowledgements, so that latencies are known */
  pipeline: (load: string, observed?: boolean) => Promise<Pipeline>;
}

export const millraceSystem = (environment: Environment): ComparedSystem => ({
  name: 'millrace',
  format: 'senml',
  databasePid: () => environment.database.pid,
  pipeline: (_load, observed = false) => openMillrace(environment, observed),
});

/** One keyspace is used for all measurements, because its migration takes up to a minute. */
export const KEYSPACE = 'peers';

/** Only one of both processes runs at a time, since they share the keyspace. */
export async function openMillrace(environment: Environment, observed: boolean) {
  const [name, other] = observed ? ['millrace-observed', 'millrace'] : ['millrace', 'millrace-observed'];
  await environment.close(String(other));
  return environment.pipeline(String(name), { observed, keyspace: KEYSPACE });
}

export const telegrafSystem = (
  environment: Environment,
  { database, telegraf, durability }: { database: PeerDatabase; telegraf: string; durability: Class },
): ComparedSystem => ({
  name: 'questdb',
  format: 'lines',
  databasePid: () => database.pid,
  pipeline: async (load, observed = false) => {
    const name = observed ? 'questdb-observed' : 'questdb';
    const open = (dir: string) => openPeer(environment, { name, dir, database, telegraf, observed });
    const tuning = observed ? DEFAULT_TUNING : tuningOf(durability, load);
    return (await environment.variant(name, open)).start(tuning, samplesOf(loadOf(load)));
  },
});

async function openPeer(
  { publisher }: Environment,
  {
    name,
    dir,
    database,
    telegraf: command,
    observed,
  }: { name: string; dir: string; database: PeerDatabase; telegraf: string; observed: boolean },
) {
  const broker = await startBroker(join(dir, 'broker'));
  const reachedAt = observed ? await publisher.call<string>('observe', broker.url) : broker.url;
  let telegraf: Program | null = null;
  let settings = '';
  return {
    /** Restarts Telegraf, unless it already runs with these settings. @param samples in a message */
    async start(tuning: Tuning, samples: number): Promise<Pipeline> {
      const wanted = telegrafToml({ broker: reachedAt, database: database.url, tuning, samples });
      if (wanted !== settings) {
        await telegraf?.stop();
        settings = wanted;
        telegraf = await startTelegraf(command, { dir, settings });
      }
      const ingest = {
        pid: Number(telegraf?.pid),
        async metrics() {
          const counted = await database.stored();
          return (metric: string) => (metric === 'iot_ingest_samples_total' ? counted : 0);
        },
        stop: async () => telegraf?.stop(),
      };
      return new Pipeline({ name, broker, ingest, publisher });
    },

    async close() {
      await telegraf?.stop();
      await broker.stop();
    },
  };
}

/** @param options `dir`: of its configuration and log; `settings`: TOML */
export function startTelegraf(
  command: string,
  { dir, settings }: { dir: string; settings: string },
): Promise<Program> {
  const configuration = join(dir, 'telegraf.conf');
  writeFileSync(configuration, settings);
  return startProgram({
    title: 'Telegraf',
    command,
    args: ['--config', configuration],
    log: join(dir, 'telegraf.log'),
    isReady: (log) => log.includes('Connected ['),
  });
}
