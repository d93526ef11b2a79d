import type { Context } from '../environment/index.ts';
import { loadOf } from '../load/shapes.ts';
import { withShares } from '../measure/machine.ts';
import { measureRate, type Rate } from '../measure/rate.ts';
import { alternate, type Round } from '../measure/rounds.ts';
import type { Name, Rival } from './pipelines.ts';

export interface ShapeRates {
  shape: string;
  rounds: Round<Name, Rate>[];
}

/** The pipelines run in turns, Telegraf at its best tuning. */
export async function measureRates({ flags, status }: Context, rivals: Rival[]): Promise<ShapeRates[]> {
  const timing = { warmMs: flags.warmMs, forMs: flags.runMs };
  const done: ShapeRates[] = [];
  for (const shape of flags.shapes) {
    const rounds = await alternate({
      names: rivals.map(({ name }) => name),
      rounds: flags.rounds,
      measure: (name) => measureOne(byName(rivals, name), shape, timing),
      onStatus: (text) => status(`${shape}, ${text}`),
    });
    done.push({ shape, rounds });
  }
  return done;
}

/** A fresh JVM is several times slower than a warm JVM. */
export async function warmUp({ flags, status }: Context, rivals: Rival[]) {
  for (const rival of rivals) {
    for (const load of ['1x60', '1x1']) {
      status(`warming up: ${rival.name}, ${load}`);
      await measureOne(rival, load, { warmMs: flags.bootMs / 4, forMs: 100 });
    }
  }
}

/** Latencies and reads are measured at this load, the simulator's collar. */
export const STEADY_LOAD = '4x10';

/** From the intended publish to the acknowledgement of the subscriber. All pipelines run at the same rate. @param rate samples/s */
export async function measureLatencies({ flags, status }: Context, rivals: Rival[], rate: number) {
  async function paceOne({ format, line }: Rival, forMs: number) {
    const shape = { ...loadOf(STEADY_LOAD), format };
    const wired = await line(shape.name, true);
    return withShares({}, async () => (await wired.pace(shape, { rate, forMs })).latency);
  }
  for (const rival of rivals) {
    status(`latency: warming up ${rival.name}`);
    await paceOne(rival, flags.warmMs);
  }
  return alternate({
    names: rivals.map(({ name }) => name),
    rounds: flags.rounds,
    measure: (name) => paceOne(byName(rivals, name), flags.runMs),
    onStatus: (text) => status(`latency, ${text}`),
  });
}

async function measureOne(rival: Rival, load: string, timing: { warmMs: number; forMs: number }) {
  const line = await rival.line(load);
  return measureRate(
    line,
    { ...loadOf(load), format: rival.format },
    { database: rival.databasePid(), ...timing },
  );
}

export const byName = (rivals: Rival[], name: Name) => rivals.find((rival) => rival.name === name) as Rival;
