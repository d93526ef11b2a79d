import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../../common/errors.ts';
import type { BenchFlags, Environment } from '../environment/index.ts';
import type { Variant } from '../environment/pipeline.ts';
import { type Shape, samplesOf } from '../load/shapes.ts';
import { startObserving } from './machine.ts';
import { median } from './rounds.ts';

const POLL_MS = 250;

/** If a variant commits nothing for so long while devices register, the measurement fails. */
const STUCK_MS = 60_000;

export interface Rate {
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
    await variant.untilSteady();
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
    await sleep(POLL_MS);
  }
}

export async function measurePeak(
  variant: Variant,
  shape: Shape,
  {
    environment,
    flags,
  }: { environment: Environment; flags: Pick<BenchFlags, 'rounds' | 'runMs' | 'warmMs'> },
): Promise<number> {
  const timing = { database: environment.database.pid, warmMs: flags.warmMs * 2, forMs: flags.runMs };
  const rates = [];
  for (let time = 0; time < Math.min(2, flags.rounds); time++)
    rates.push((await measureRate(variant, shape, timing)).rate);
  // A stall may last longer than a short run and give a rate of 0. Nothing can be published at a rate of 0.
  return Math.max(1, median(rates));
}
