import { join } from 'node:path';
import { readSettings } from '../../../common/settings/index.ts';
import { startDatabase } from '../environment/database.ts';
import { type Context, openEnvironment } from '../environment/index.ts';
import { medianOf } from '../measure/rounds.ts';
import type { PeerDatabase } from '../peers/database.ts';
import { InfluxDb } from '../peers/influxdb.ts';
import { killEach, ourTarget, peerTarget } from '../peers/kills.ts';
import { measureMonth } from '../peers/month.ts';
import { behindTelegraf, closeOurs, ourselves, type Rival } from '../peers/pipelines.ts';
import { QuestDb } from '../peers/questdb.ts';
import { measureLatencies, measureRates, type ShapeRates, STEADY_LOAD, warmUp } from '../peers/rates.ts';
import { type ClassResult, peerTables } from '../peers/report.ts';
import type { Class } from '../peers/settings.ts';
import { ensurePrograms, type Programs } from '../peers/tools.ts';
import type { Part } from './index.ts';

/** Share of the highest rate of the slowest pipeline. Latencies and reads are measured at this rate. */
const SHARE = 0.5;

/** Length of the load before the kill, and again after the restart, in ms. */
const KILL_RUN_MS = { quick: 1500, usual: 5000 };

/** Class K is for kills. Class P differs only in the databases, so only the databases are killed. */
const VICTIMS: Record<Class, { ours: string[]; theirs: string[] }> = {
  K: { ours: ['ingest', 'Mosquitto', 'database'], theirs: ['Telegraf', 'Mosquitto', 'database'] },
  P: { ours: ['database'], theirs: ['database'] },
};

/** Compares with Mosquitto, Telegraf, and QuestDB or InfluxDB, in two classes of durability. */
export const peers: Part<ClassResult[]> = {
  name: 'peers',
  title: 'The peers: Telegraf with QuestDB and InfluxDB, side by side with Millrace',
  onRequest: true,

  async run(context) {
    const { environment, status } = context;
    const { dataDir } = readSettings();
    const programs = await ensurePrograms(join(dataDir, 'tools'), status);

    const classes: ClassResult[] = [];
    if (context.flags.classes?.includes('K')) {
      const killed = await QuestDb.open({
        dir: join(environment.dir, 'questdb-k'),
        programs,
        durability: 'K',
      });
      classes.push(await closing([killed], () => measureClass(context, 'K', [killed], programs)));
      context.keep?.(classes);
    }
    if (context.flags.classes?.includes('P')) classes.push(await measureDurable(context, dataDir, programs));
    return classes;
  },

  tables: peerTables,
};

async function measureDurable(context: Context, dataDir: string, programs: Programs) {
  const { status } = context;
  const dir = join(context.environment.dir, 'durable');
  const engineDir = join(dataDir, 'engine');
  const cassandra = await startDatabase({ dir, engineDir, durable: true, onStatus: status });
  return closing([cassandra], async () => {
    const environment = await openEnvironment({ dir, database: cassandra, onStatus: status });
    return closing([environment], async () => {
      const synced = [
        await QuestDb.open({ dir: join(dir, 'questdb-p'), programs, durability: 'P' }),
        await InfluxDb.open({ dir: join(dir, 'influxdb'), programs }),
      ];
      return closing(synced, () => measureClass({ ...context, environment }, 'P', synced, programs));
    });
  });
}

async function measureClass(
  context: Context,
  durability: Class,
  databases: PeerDatabase[],
  programs: Programs,
): Promise<ClassResult> {
  const { environment, flags } = context;
  const status = (text: string) => context.status(`class ${durability}, ${text}`);
  const classContext = { ...context, status };
  const rivals = [
    ourselves(environment),
    ...databases.map((database) => behindTelegraf(environment, database, programs)),
  ];
  await warmUp(classContext, rivals);
  const rates = await measureRates(classContext, rivals);
  const unstored: ClassResult['unstored'] = {};
  for (const database of databases) {
    unstored[database.kind] = (await database.counted()) - (await database.stored());
  }
  const rate = SHARE * slowestAt(rates, STEADY_LOAD, rivals);
  const latency = { rate, rounds: await measureLatencies(classContext, rivals, rate) };
  const month =
    durability === 'P' ? await measureMonth(classContext, { rivals, databases, rate }) : undefined;

  const forMs = flags.quick ? KILL_RUN_MS.quick : KILL_RUN_MS.usual;
  const { ours, theirs } = VICTIMS[durability];
  const kills: ClassResult['kills'] = {};
  for (const database of databases) {
    const target = await peerTarget(environment, database, programs);
    kills[database.kind] = await killEach(target, { victims: theirs, forMs, status });
    for (const name of ['', '-wired', '-killed']) await environment.close(`${database.kind}${name}`);
  }
  // This target comes last, because its kills take the database away from all Millrace processes for a while.
  kills.millrace = await killEach(await ourTarget(environment), { victims: ours, forMs, status });
  await closeOurs(environment);
  return { durability, rates, unstored, latency, kills, month };
}

function slowestAt(rates: ShapeRates[], load: string, rivals: Rival[]) {
  const found = rates.find(({ shape }) => shape === load) ?? rates[0];
  const rounds = found?.rounds ?? [];
  return Math.min(...rivals.map(({ name }) => medianOf(rounds, (results) => results[name].rate)));
}

/** Stops things even if the work fails. */
async function closing<T>(things: Array<{ stop: () => Promise<void> }>, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    for (const thing of things) await thing.stop();
  }
}
