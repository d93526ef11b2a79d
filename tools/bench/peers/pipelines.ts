import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startBroker } from '../environment/broker.ts';
import type { Environment } from '../environment/index.ts';
import { createPace, Line, type Pace } from '../environment/pipeline.ts';
import { type Program, startProgram } from '../process/program.ts';
import type { PeerDatabase } from './database.ts';
import { type Tuning, telegrafToml } from './settings.ts';
import type { Programs } from './tools.ts';

/** A pipeline in one durability class. */
export interface Rival {
  name: Name;
  format: 'senml' | 'lines';
  databasePid: () => number;
  /** whether a sweep tries several tunings */
  tunable: boolean;
  line: (tuning: Tuning, samples: number) => Promise<Line>;
  /** starts the pipeline with a wire, so that latencies are known */
  wired: (tuning: Tuning, samples: number) => Promise<Pace>;
}

export type Name = 'millrace' | 'questdb' | 'influxdb';

export const ourselves = (environment: Environment): Rival => ({
  name: 'millrace',
  format: 'senml',
  databasePid: () => environment.database,
  tunable: false,
  line: () => openOurs(environment, { wired: false }),
  wired: async () => (await openOurs(environment, { wired: true })).pace,
});

/** One keyspace is used for all measurements, because its migration takes up to a minute. */
export const OURS = 'peers';

/** Only one of these processes runs at a time, since they share the keyspace. */
const OUR_NAMES = ['ours', 'ours-wired'];

export async function openOurs(environment: Environment, { wired }: { wired: boolean }) {
  const [name, other] = wired ? [...OUR_NAMES].reverse() : OUR_NAMES;
  await environment.close(String(other));
  return environment.pipeline(String(name), undefined, { wired, keyspace: OURS });
}

export async function closeOurs(environment: Environment) {
  for (const name of OUR_NAMES) await environment.close(name);
}

export const behindTelegraf = (
  environment: Environment,
  database: PeerDatabase,
  programs: Programs,
): Rival => ({
  name: database.kind,
  format: 'lines',
  databasePid: () => database.pid,
  tunable: true,
  async line(tuning, samples) {
    return (await openPeer(environment, { name: database.kind, database, programs })).line(tuning, samples);
  },
  async wired(tuning, samples) {
    const name = `${database.kind}-wired`;
    const peer = await openPeer(environment, { name, database, programs, wired: true });
    const line = await peer.line(tuning, samples);
    const { publisher, connections } = environment;
    return createPace({ line, broker: peer.broker, publisher, connections });
  },
});

/**
 * Each peer has its own Mosquitto, Telegraf, and database.
 * @returns a pipeline that is started once for each name
 */
export const openPeer = (
  environment: Environment,
  {
    name,
    database,
    programs,
    wired = false,
  }: {
    name: string;
    database: PeerDatabase;
    programs: Programs;
    /** Telegraf reaches its broker through the publisher's wire */
    wired?: boolean;
  },
) =>
  environment.variant(name, async (dir) => {
    const { publisher, connections } = environment;
    const broker = await startBroker(join(dir, 'broker'));
    const reachedAt = wired ? await publisher.ask<string>('wire', broker.url) : broker.url;
    let telegraf: Program | null = null;
    let tuned: (Tuning & { samples: number }) | null = null;

    async function start() {
      if (!tuned) return;
      const config = join(dir, 'telegraf.conf');
      const { samples, ...tuning } = tuned;
      const { kind, url } = database;
      writeFileSync(config, telegrafToml({ kind, broker: reachedAt, database: url, tuning, samples }));
      telegraf = await startProgram({
        title: 'Telegraf',
        command: programs.telegraf,
        args: ['--config', config],
        log: join(dir, 'telegraf.log'),
        isReady: (log) => log.includes('Connected ['),
      });
    }

    return {
      broker,

      kill: async () => telegraf?.kill(),
      start,

      /** Restarts Telegraf, unless it already runs with these settings. @param samples in a message */
      async line(tuning: Tuning, samples: number): Promise<Line> {
        const wanted = { ...tuning, samples };
        if (JSON.stringify(wanted) !== JSON.stringify(tuned)) {
          await telegraf?.stop();
          tuned = wanted;
          await start();
        }
        const ingest = {
          pid: Number(telegraf?.pid),
          async metrics() {
            const counted = await database.counted();
            return (metric: string) => (metric === 'iot_ingest_samples_total' ? counted : 0);
          },
          ask: async () => {},
          stop: async () => telegraf?.stop(),
        };
        return new Line({ name, broker, ingest, publisher, connections });
      },

      async close() {
        await telegraf?.stop();
        await broker.stop();
      },
    };
  });
