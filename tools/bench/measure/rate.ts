import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import type { Context } from '../environment/index.ts';
import type { Variant } from '../environment/pipeline.ts';
import { loadOf, type Shape, samplesOf } from '../load/shapes.ts';
import { startObserving } from './machine.ts';
import { alternate, median, type Round } from './rounds.ts';

const LOOK_MS = 250;

/** If a variant commits nothing for so long while devices register, the measurement fails. */
const STUCK_MS = 60_000;

export interface Rate {
  /** committed samples/s */
  rate: number;
  /** CPU µs per sample by process name; `database` is one of the names */
  cpu: Record<string, number>;
  /** share of the machine's CPU time that the host took away, 0 to 1 */
  steal: number;
  /** share of the machine's CPU time that processes outside the bench used, 0 to 1 */
  others: number;
}

/** @param options `database`: pid @throws {MillraceError} `failed`: the variant commits nothing */
export async function measureRate(
  variant: Variant,
  shape: Shape,
  {
    database,
    warmMs,
    forMs,
    stuckMs = STUCK_MS,
  }: { database: number; warmMs: number; forMs: number; stuckMs?: number },
): Promise<Rate> {
  const first = await variant.committed();
  await variant.begin(shape);
  try {
    await untilRegistered(variant, first + shape.devices * samplesOf(shape), stuckMs);
    await sleep(warmMs);
    const observed = await startObserving({ ...variant.pids, database });
    const before = await variant.committed();
    await sleep(forMs);
    const samples = (await variant.committed()) - before;
    const { seconds, cpu, steal, others } = await observed();
    return {
      rate: samples / seconds,
      cpu: Object.fromEntries(Object.entries(cpu).map(([name, used]) => [name, (used * 1e6) / samples])),
      steal,
      others,
    };
  } finally {
    await variant.end();
  }
}

/**
 * The first message of each device registers it. Registration is not measured.
 * @throws {MillraceError} `failed`: nothing was committed for `stuckMs`
 */
async function untilRegistered(variant: Variant, wanted: number, stuckMs: number) {
  let moved = { at: performance.now(), committed: 0 };
  for (;;) {
    const committed = await variant.committed();
    if (committed >= wanted) return;
    const now = performance.now();
    if (committed > moved.committed) moved = { at: now, committed };
    else if (now - moved.at > stuckMs)
      throw new MillraceError('failed', `${variant.name} committed nothing for ${stuckMs / 1000} s.`);
    await sleep(LOOK_MS);
  }
}

/** Repeats of the highest rate, for a part that runs at a share of it. */
const TIMES = 2;

/** @returns the median of the measured rates, samples/s */
export async function measurePeak(
  variant: Variant,
  shape: Shape,
  { environment, flags }: Pick<Context, 'environment' | 'flags'>,
): Promise<number> {
  const timing = { database: environment.database, warmMs: flags.warmMs * 2, forMs: flags.runMs };
  const rates = [];
  for (let time = 0; time < TIMES; time++) rates.push((await measureRate(variant, shape, timing)).rate);
  // A stall may last longer than a short run and give a rate of 0. Nothing can be published at a rate of 0.
  return Math.max(1, median(rates));
}

/** Length of one measurement of a sweep, as a share of a run. */
export const SWEEP_PART = 1 / 3;

export interface Comparison<Name extends string> {
  shape: string;
  /** best number of requests in flight */
  sweeps: Partial<Record<Name, { best: number }>>;
  rounds: Round<Name, Rate>[];
}

/** Measures variants side by side, each as fast as it can commit. */
export async function compare<Name extends string>(
  { environment, flags, status }: Context,
  {
    loads,
    variants,
    swept,
  }: {
    loads: string[];
    variants: Record<Name, Variant>;
    /** variants with a fixed number of requests in flight; a sweep finds their best number */
    swept: NoInfer<Name>[];
  },
): Promise<Comparison<Name>[]> {
  const names = Object.keys(variants) as Name[];
  const timing = { database: environment.database, warmMs: flags.warmMs, forMs: flags.runMs };
  const short = { ...timing, warmMs: timing.warmMs * SWEEP_PART, forMs: timing.forMs * SWEEP_PART };

  const sweepOne = (load: string, name: Name) =>
    sweep({
      candidates: flags.inFlight,
      measure: async (inFlight) => {
        status(`${load}, ${name}: how many requests in flight are best? ${inFlight}`);
        await variants[name].inFlight(inFlight);
        return (await measureRate(variants[name], loadOf(load), short)).rate;
      },
    });

  const done: Comparison<Name>[] = [];
  for (const load of loads) {
    const sweeps: Comparison<Name>['sweeps'] = {};
    for (const name of swept) {
      const found = await sweepOne(load, name);
      await variants[name].inFlight(found.best);
      sweeps[name] = found;
    }
    // A sweep warms its variant for this load. So the other variants are warmed too.
    for (const name of names.filter((one) => !swept.includes(one))) {
      status(`${load}, ${name}: warming up`);
      await measureRate(variants[name], loadOf(load), timing);
    }
    const rounds = await alternate({
      names,
      rounds: flags.rounds,
      measure: (name) => measureRate(variants[name], loadOf(load), timing),
      onStatus: (text) => status(`${load}, ${text}`),
    });
    done.push({ shape: load, sweeps, rounds });
  }
  return done;
}

export async function sweep<C>({
  candidates,
  measure,
}: {
  candidates: C[];
  measure: (candidate: C) => Promise<number>;
}): Promise<{ tried: Array<{ candidate: C; rate: number }>; best: C }> {
  const tried = [];
  for (const candidate of candidates) tried.push({ candidate, rate: await measure(candidate) });
  const { candidate: best } = tried.reduce((leader, one) => (one.rate > leader.rate ? one : leader));
  return { tried, best };
}

/** CPU µs per sample. */
export const cpuOfBoth = ({ cpu }: Rate): number => Number(cpu['ingest']) + Number(cpu['database']);
