import { setTimeout as sleep } from 'node:timers/promises';
import { bucketOf, DAY_MS, HOUR_MS, PACK_DELAY_MS } from '../../../schema/rules.ts';
import type { Context } from '../environment/index.ts';
import { deviceName, lineOf, sensorName, tagOf } from '../load/payloads.ts';
import { loadOf } from '../load/shapes.ts';
import { build } from '../loader/build.ts';
import { fleetOf, samplesOfHour } from '../loader/data-set.ts';
import { withShares } from '../measure/machine.ts';
import { createHttpReader, readRepeatedly } from '../measure/reads.ts';
import { alternate } from '../measure/rounds.ts';
import { tableBytes } from '../measure/stored.ts';
import type { PeerDatabase } from './databases.ts';
import { type ComparedSystem, KEYSPACE, type Name, openMillrace } from './pipelines.ts';
import { byName, STEADY_LOAD } from './rates.ts';

/** Time between two samples of a sensor. */
const INTERVAL_MS = 1000;

const DAYS = 30;
const BINS = 500;
const SENSORS = 4;
const LATEST = 100;

/** Both pipelines get the same samples. */
const RECIPE = { seed: 1, signal: 'decimals' as const, jitterMs: 20 };

export function monthOf(intervalMs: number, now: number) {
  const to = bucketOf(now) - PACK_DELAY_MS;
  const [device] = fleetOf({ seed: RECIPE.seed, devices: 1, sensors: SENSORS, groups: 1 });
  if (!device) throw new RangeError('a fleet of one device has one');
  const set = { ...RECIPE, intervalMs, from: to - DAYS * DAY_MS, to };
  return { device: device.name, sensors: device.sensors.map(({ name }) => name), set };
}

type MonthSet = ReturnType<typeof monthOf>;

async function loadPeer(
  database: PeerDatabase,
  { device, sensors, set }: MonthSet,
  onProgress: (samples: number) => void,
): Promise<number> {
  let samples = 0;
  for (let hour = set.from; hour < set.to; hour += HOUR_MS) {
    const lines = sensors.flatMap((sensor) => {
      const { times, values } = samplesOfHour(set, { device, sensor }, hour);
      return Array.from(times, (time, at) => lineOf(tagOf(device, sensor), time, Number(values[at])));
    });
    await database.write(`${lines.join('\n')}\n`);
    samples += lines.length;
    onProgress(samples);
  }
  return samples;
}

/** The same month in both databases: bytes per sample on disk, and reads while devices publish at `rate` samples/s. */
export async function measureMonth(
  context: Context,
  { systems, database, rate }: { systems: ComparedSystem[]; database: PeerDatabase; rate: number },
) {
  const { environment, status } = context;
  const month = monthOf(INTERVAL_MS, Date.now());
  await database.clear();
  status('a month into QuestDB');
  const empty = await database.bytes(0);
  const theirs = await loadPeer(database, month, (done) => status(`a month into QuestDB: ${done}`));
  status('a month into QuestDB: merging');
  const questdb = ((await database.bytes(theirs)) - empty) / theirs;
  const config = await environment.prepare(KEYSPACE);
  const { samples } = await build({
    config,
    fleet: { seed: RECIPE.seed, devices: 1, sensors: SENSORS },
    set: month.set,
    into: 'history',
    onProgress: (done) => status(`a month into Millrace: ${done}`),
  });
  status('a month into Millrace: compacting');
  const sizes = Object.values(await tableBytes(environment, config.cql.keyspace, HISTORY));
  const bytes = { millrace: sizes.reduce((sum, size) => sum + size, 0) / samples, questdb };
  return { samples, bytes, rate, rounds: await readMonth(context, { systems, database, rate, month }) };
}

/** The messages that devices send during the reads are in other tables. */
const HISTORY = ['history', 'history_stat'];

async function readMonth(
  { environment, flags, status }: Context,
  { systems, database, rate, month }: Parameters<typeof measureMonth>[1] & { month: MonthSet },
) {
  const httpProcess = await (await openMillrace(environment, false)).startHttp();
  const http = createHttpReader(httpProcess.url);
  const shape = loadOf(STEADY_LOAD);
  const { from, to } = month.set;
  const [sensor = ''] = month.sensors;
  const newest = Array.from({ length: LATEST }, (_, at) =>
    tagOf(deviceName(Math.floor(at / shape.sensors)), sensorName(at % shape.sensors)),
  );

  const path = `/api/v1/devices/${month.device}/sensors/${sensor}`;
  const millrace = {
    latest: async () =>
      (await http.json<{ items: unknown[] }>(`/api/v1/latest?limit=${LATEST}`)).items.length,
    series: async () =>
      (await http.json<{ points: unknown[] }>(`${path}/series?from=${from}&to=${to}&points=${BINS}`)).points
        .length,
  };
  const questdb = {
    latest: () => database.latest(newest),
    series: () => database.series({ sensor: tagOf(month.device, sensor), from, to, bins: BINS }),
  };

  async function measure(name: Name) {
    const system = byName(systems, name);
    const pipeline = await system.pipeline(STEADY_LOAD);
    const end = await pipeline.hold({ ...shape, format: system.format }, rate);
    try {
      await sleep(flags.warmMs + REGISTER_MS);
      const { latest, series } = { millrace, questdb }[name];
      return await withShares({ ...pipeline.pids, database: system.databasePid() }, async () => ({
        latest: await readRepeatedly(latest, flags.runMs),
        series: await readRepeatedly(series, flags.runMs),
      }));
    } finally {
      await end();
    }
  }

  try {
    return await alternate({
      names: systems.map(({ name }) => name),
      rounds: flags.rounds,
      measure,
      onStatus: (text) => status(`reading, ${text}`),
    });
  } finally {
    http.close();
    await httpProcess.close();
  }
}

/** New devices register by their first message. */
const REGISTER_MS = 1000;
