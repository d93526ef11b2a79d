import type { Context } from '../environment/index.ts';
import { loadOf, samplesOf } from '../load/shapes.ts';
import { withShares } from '../measure/machine.ts';
import { measureRate, type Rate } from '../measure/rate.ts';
import { alternate, type Round } from '../measure/rounds.ts';
import type { Name, Rival } from './pipelines.ts';
import { KNOWN_TUNING, TUNINGS, type Tuning } from './settings.ts';

/** Length of one measurement of a sweep, as a share of a run. */
const SWEEP_PART = 1 / 3;

/** Rates at the best tuning of Telegraf. */
export interface ShapeRates {
  shape: string;
  sweeps: Partial<Record<Name, { best: Tuning }>>;
  rounds: Round<Name, Rate>[];
}

/** Each pipeline runs at its best tuning. The pipelines run in turns. */
export async function measureRates({ flags, status }: Context, rivals: Rival[]): Promise<ShapeRates[]> {
  const timing = { warmMs: flags.warmMs, forMs: flags.runMs };
  const short = { warmMs: timing.warmMs * SWEEP_PART, forMs: timing.forMs * SWEEP_PART };
  const done: ShapeRates[] = [];
  for (const shape of flags.shapes) {
    const sweeps: ShapeRates['sweeps'] = {};
    for (const rival of flags.quick ? [] : rivals.filter(({ name }) => name !== 'millrace')) {
      let [best, most] = [KNOWN_TUNING, 0];
      for (const tuning of TUNINGS) {
        status(`${shape}, ${rival.name}: ${tuning.undelivered} undelivered, batches of ${tuning.batch}`);
        const { rate } = await measureOne(rival, shape, tuning, short);
        if (rate > most) [best, most] = [tuning, rate];
      }
      sweeps[rival.name] = { best };
    }
    const rounds = await alternate({
      names: rivals.map(({ name }) => name),
      rounds: flags.rounds,
      measure: (name) => measureOne(byName(rivals, name), shape, bestOf(sweeps, name), timing),
      onStatus: (text) => status(`${shape}, ${text}`),
    });
    done.push({ shape, sweeps, rounds });
  }
  return done;
}

/** A fresh JVM is several times slower than a warm JVM. */
export async function warmUp({ flags, status }: Context, rivals: Rival[]) {
  for (const rival of rivals) {
    for (const load of ['1x60', '1x1']) {
      status(`warming up: ${rival.name}, ${load}`);
      await measureOne(rival, load, KNOWN_TUNING, { warmMs: flags.bootMs / 4, forMs: 100 });
    }
  }
}

/** Latencies and reads are measured at this load, the simulator's collar. */
export const STEADY_LOAD = '4x10';

/** From the intended publish to the acknowledgement of the subscriber. All pipelines run at the same rate. @param rate samples/s */
export async function measureLatencies({ flags, status }: Context, rivals: Rival[], rate: number) {
  async function paceOne({ format, line }: Rival, forMs: number) {
    const shape = { ...loadOf(STEADY_LOAD), format };
    const wired = await line(KNOWN_TUNING, samplesOf(shape), true);
    return withShares({}, async () => (await wired.pace(shape, { rate, forMs })).latency.published);
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
