import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBroker } from '../environment/broker.ts';
import type { Environment } from '../environment/index.ts';
import { Line } from '../environment/line.ts';
import { loadOf, samplesOf } from '../load/shapes.ts';
import { type Program, startProgram } from '../process/program.ts';
import type { PeerDatabase } from './databases.ts';
import { type Class, DEFAULT_TUNING, type Tuning, telegrafToml, tuningOf } from './settings.ts';

export type Name = 'millrace' | 'questdb';

export interface Rival {
  name: Name;
  format: 'senml' | 'lines';
  databasePid: () => number;
  /** @param load such as `4x10` @param wired the publisher's wire observes the acknowledgements, so that latencies are known */
  line: (load: string, wired?: boolean) => Promise<Line>;
}

export const ourselves = (environment: Environment): Rival => ({
  name: 'millrace',
  format: 'senml',
  databasePid: () => environment.database.pid,
  line: (_load, wired = false) => openOurs(environment, wired),
});

/** One keyspace is used for all measurements, because its migration takes up to a minute. */
export const OURS = 'peers';

/** Only one of both processes runs at a time, since they share the keyspace. */
export async function openOurs(environment: Environment, wired: boolean) {
  const [name, other] = wired ? ['ours-wired', 'ours'] : ['ours', 'ours-wired'];
  await environment.close(String(other));
  return environment.pipeline(String(name), { wired, keyspace: OURS });
}

export const behindTelegraf = (
  environment: Environment,
  { database, telegraf, durability }: { database: PeerDatabase; telegraf: string; durability: Class },
): Rival => ({
  name: 'questdb',
  format: 'lines',
  databasePid: () => database.pid,
  line: async (load, wired = false) => {
    const name = wired ? 'questdb-wired' : 'questdb';
    const open = (dir: string) => openPeer(environment, { name, dir, database, telegraf, wired });
    const tuning = wired ? DEFAULT_TUNING : tuningOf(durability, load);
    return (await environment.variant(name, open)).line(tuning, samplesOf(loadOf(load)));
  },
});

async function openPeer(
  { publisher }: Environment,
  {
    name,
    dir,
    database,
    telegraf: command,
    wired,
  }: { name: string; dir: string; database: PeerDatabase; telegraf: string; wired: boolean },
) {
  const broker = await startBroker(join(dir, 'broker'));
  const reachedAt = wired ? await publisher.ask<string>('wire', broker.url) : broker.url;
  let telegraf: Program | null = null;
  let settings = '';
  return {
    /** Restarts Telegraf, unless it already runs with these settings. @param samples in a message */
    async line(tuning: Tuning, samples: number): Promise<Line> {
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
      return new Line({ name, broker, ingest, publisher });
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
