import type { Context } from '../environment/index.ts';
import { loadOf } from '../load/shapes.ts';
import { withShares } from '../measure/machine.ts';
import { measureRate, type Rate } from '../measure/rate.ts';
import { alternate, type Round } from '../measure/rounds.ts';
import type { ComparedSystem, Name } from './pipelines.ts';

export interface ShapeRates {
  shape: string;
  rounds: Round<Name, Rate>[];
}

/** The pipelines run in turns, Telegraf at its best tuning. */
export async function measureRates(
  { flags, status }: Context,
  systems: ComparedSystem[],
): Promise<ShapeRates[]> {
  const timing = { warmMs: flags.warmMs, forMs: flags.runMs };
  const done: ShapeRates[] = [];
  for (const shape of flags.shapes) {
    const rounds = await alternate({
      names: systems.map(({ name }) => name),
      rounds: flags.rounds,
      measure: (name) => measureOne(byName(systems, name), shape, timing),
      onStatus: (text) => status(`${shape}, ${text}`),
    });
    done.push({ shape, rounds });
  }
  return done;
}

/** A fresh JVM is several times slower than a warm JVM. */
export async function warmUp({ flags, status }: Context, systems: ComparedSystem[]) {
  for (const system of systems) {
    for (const load of ['1x60', '1x1']) {
      status(`warming up: ${system.name}, ${load}`);
      await measureOne(system, load, { warmMs: flags.bootMs / 4, forMs: 100 });
    }
  }
}

/** Latencies and reads are measured at this load, the simulator's collar. */
export const STEADY_LOAD = '4x10';

/** From the intended publish to the acknowledgement of the subscriber. All pipelines run at the same rate. @param rate samples/s */
export async function measureLatencies({ flags, status }: Context, systems: ComparedSystem[], rate: number) {
  async function paceOne({ format, pipeline: open }: ComparedSystem, forMs: number) {
    const shape = { ...loadOf(STEADY_LOAD), format };
    const pipeline = await open(shape.name, true);
    return withShares({}, async () => (await pipeline.pace(shape, { rate, forMs })).latency);
  }
  for (const system of systems) {
    status(`latency: warming up ${system.name}`);
    await paceOne(system, flags.warmMs);
  }
  return alternate({
    names: systems.map(({ name }) => name),
    rounds: flags.rounds,
    measure: (name) => paceOne(byName(systems, name), flags.runMs),
    onStatus: (text) => status(`latency, ${text}`),
  });
}

async function measureOne(system: ComparedSystem, load: string, timing: { warmMs: number; forMs: number }) {
  const pipeline = await system.pipeline(load);
  return measureRate(
    pipeline,
    { ...loadOf(load), format: system.format },
    { database: system.databasePid(), ...timing },
  );
}

export const byName = (systems: ComparedSystem[], name: Name) =>
  systems.find((system) => system.name === name) as ComparedSystem;
