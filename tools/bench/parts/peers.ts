import { join } from 'node:path';
import { readSettings } from '../../../common/settings/index.ts';
import { startDatabase } from '../environment/database.ts';
import { type Context, openEnvironment } from '../environment/index.ts';
import { medianOf } from '../measure/rounds.ts';
import { openQuestDb, type PeerDatabase } from '../peers/databases.ts';
import { measureMonth } from '../peers/month.ts';
import { millraceSystem, telegrafSystem } from '../peers/pipelines.ts';
import { measureLatencies, measureRates, STEADY_LOAD, warmUp } from '../peers/rates.ts';
import { type ClassResult, peerTables } from '../peers/report.ts';
import type { Class } from '../peers/settings.ts';
import { ensurePrograms, type Programs } from '../peers/tools.ts';
import type { Part } from './index.ts';

/** Share of the highest rate of the slowest pipeline. Latencies and reads are measured at this rate. */
const SHARE = 0.5;

/** Compares with Mosquitto, Telegraf and QuestDB, in two classes of durability. */
export const peers: Part<ClassResult[]> = {
  name: 'peers',
  title: 'Peers: Telegraf with QuestDB, side by side with Millrace',
  onRequest: true,

  async run(context) {
    const { environment, status } = context;
    const { dataDir } = readSettings();
    const programs = await ensurePrograms(join(dataDir, 'tools'), status);
    const killSafe = await openQuestDb(join(environment.dir, 'questdb-k'), programs, 'K');
    const classes = [await closing(killSafe, () => measureClass(context, 'K', killSafe, programs))];
    for (const name of ['millrace', 'millrace-observed', 'questdb', 'questdb-observed'])
      await environment.close(name);

    const dir = join(environment.dir, 'durable');
    const engineDir = join(dataDir, 'engine');
    const cassandra = await startDatabase({ dir, engineDir, durable: true, onStatus: status });
    await closing(cassandra, async () => {
      const durable = await openEnvironment({ dir, database: cassandra, onStatus: status });
      await closing(durable, async () => {
        const synced = await openQuestDb(join(dir, 'questdb-p'), programs, 'P');
        const measure = () => measureClass({ ...context, environment: durable }, 'P', synced, programs);
        classes.push(await closing(synced, measure));
      });
    });
    return classes;
  },

  tables: peerTables,
};

async function measureClass(
  context: Context,
  durability: Class,
  database: PeerDatabase,
  { telegraf }: Programs,
): Promise<ClassResult> {
  const { environment } = context;
  const status = (text: string) => context.status(`class ${durability}, ${text}`);
  const classContext = { ...context, status };
  const systems = [
    millraceSystem(environment),
    telegrafSystem(environment, { database, telegraf, durability }),
  ];
  await warmUp(classContext, systems);
  const rates = await measureRates(classContext, systems);
  const { rounds = [] } = rates.find(({ shape }) => shape === STEADY_LOAD) ?? rates[0] ?? {};
  const slowest = Math.min(...systems.map(({ name }) => medianOf(rounds, (results) => results[name].rate)));
  const rate = SHARE * slowest;
  const latency = { rate, rounds: await measureLatencies(classContext, systems, rate) };
  const month =
    durability === 'P' ? await measureMonth(classContext, { systems, database, rate }) : undefined;
  return { durability, rates, latency, month };
}

/** Stops the thing even if the work fails. */
async function closing<T>(thing: { stop: () => Promise<void> }, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } finally {
    await thing.stop();
  }
}
