import type { Context } from '../environment/index.ts';
import { loadOf, samplesOf } from '../load/shapes.ts';
import { withShares } from '../measure/machine.ts';
import { measureRate, type Rate, SWEEP_PART, sweep } from '../measure/rate.ts';
import { alternate, type Round } from '../measure/rounds.ts';
import type { Name, Rival } from './pipelines.ts';
import { KNOWN_TUNING, TUNINGS, type Tuning } from './settings.ts';

/** Rates at the best tuning of Telegraf. */
export interface ShapeRates {
  shape: string;
  sweeps: Partial<Record<Name, { best: Tuning }>>;
  rounds: Round<Name, Rate>[];
}

/** Each pipeline runs at its best tuning. The pipelines run in turns. */
export async function measureRates({ flags, status }: Context, rivals: Rival[]): Promise<ShapeRates[]> {
  const timing = { warmMs: flags.warmMs, forMs: flags.runMs };
  const tunings = flags.quick ? [KNOWN_TUNING] : TUNINGS;
  const done: ShapeRates[] = [];
  for (const shape of flags.shapes) {
    const sweeps: ShapeRates['sweeps'] = {};
    for (const rival of rivals.filter(({ tunable }) => tunable && tunings.length > 1)) {
      const short = { warmMs: timing.warmMs * SWEEP_PART, forMs: timing.forMs * SWEEP_PART };
      sweeps[rival.name] = await sweep({
        candidates: tunings,
        measure: async (tuning) => {
          status(`${shape}, ${rival.name}: ${tuning.undelivered} undelivered, batches of ${tuning.batch}`);
          return (await measureOne(rival, shape, tuning, short)).rate;
        },
      });
    }
    const rounds = await alternate({
      names: rivals.map(({ name }) => name),
      rounds: flags.rounds,
      ...(flags.quick && { mostRepeats: 0 }),
      measure: (name) => measureOne(byName(rivals, name), shape, bestOf(sweeps, name), timing),
      onStatus: (text) => status(`${shape}, ${text}`),
    });
    done.push({ shape, sweeps, rounds });
  }
  return done;
}

/** A fresh JVM is several times slower than a warm JVM. */
export async function warmUp({ flags, status }: Context, rivals: Rival[]) {
  const loads = ['1x60', '1x1'];
  for (const rival of rivals) {
    for (const load of loads) {
      status(`warming up: ${rival.name}, ${load}`);
      const timing = { warmMs: flags.bootMs / loads.length / 2, forMs: 100 };
      await measureOne(rival, load, KNOWN_TUNING, timing);
    }
  }
}

/** Latencies and reads are measured at this load, the simulator's collar. */
export const STEADY_LOAD = '4x10';

/** From the intended publish to the acknowledgement of the subscriber. All pipelines run at the same rate. @param rate samples/s */
export async function measureLatencies({ flags, status }: Context, rivals: Rival[], rate: number) {
  async function paceOne({ format, wired }: Rival, forMs: number) {
    const shape = { ...loadOf(STEADY_LOAD), format };
    const pace = await wired(KNOWN_TUNING, samplesOf(shape));
    return withShares({}, async () => (await pace(shape, { rate, forMs })).latency.published);
  }
  for (const rival of rivals) {
    status(`latency: warming up ${rival.name}`);
    await paceOne(rival, flags.warmMs);
  }
  return alternate({
    names: rivals.map(({ name }) => name),
    rounds: flags.rounds,
    ...(flags.quick && { mostRepeats: 0 }),
    measure: (name) => paceOne(byName(rivals, name), flags.runMs),
    onStatus: (text) => status(`latency, ${text}`),
  });
}

async function measureOne(
  rival: Rival,
  load: string,
  tuning: Tuning,
  timing: { warmMs: number; forMs: number },
) {
  const shape = { ...loadOf(load), format: rival.format };
  const line = await rival.line(tuning, samplesOf(shape));
  return measureRate(line, shape, { database: rival.databasePid(), ...timing });
}

export const bestOf = (sweeps: ShapeRates['sweeps'], name: Name) => sweeps[name]?.best ?? KNOWN_TUNING;

export const byName = (rivals: Rival[], name: Name) => rivals.find((rival) => rival.name === name) as Rival;
