import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '../../../simulator/random.ts';

/** The pause before each fault, in ms. */
const PAUSE_MS = { from: 500, to: 2500 };

/** One failure, and its repair. */
export interface Fault {
  title: string;
  /** settles when the failure is over */
  inject: () => Promise<void>;
}

/**
 * Injects two series of faults at the same time. The first series runs once. The second one runs at least once, and
 * repeats until the first one has ended. The seed determines the order and the pauses of each series.
 */
export async function injectFaults({
  once,
  meanwhile,
  randoms: [first, second],
  report,
}: {
  once: Fault[];
  meanwhile: Fault[];
  /** one for each series */
  randoms: Random[];
  report: (text: string) => void;
}) {
  let onceEnded = false;
  let failed = false;

  async function injectAll(faults: Fault[], random: Random | undefined, shouldContinue: () => boolean) {
    if (!random) throw new Error('each series of faults needs its random numbers');
    for (const { title, inject } of random.shuffled(faults)) {
      // The pause is part of the scenario. No condition ends it earlier.
      await sleep(random.between(PAUSE_MS.from, PAUSE_MS.to));
      if (failed || !shouldContinue()) return;
      report(title);
      await inject();
      report(`${title}: over`);
    }
  }

  const series = [
    injectAll(once, first, () => true).finally(() => {
      onceEnded = true;
    }),
    (async () => {
      await injectAll(meanwhile, second, () => true);
      while (!onceEnded) await injectAll(meanwhile, second, () => !onceEnded);
    })(),
  ];
  const results = await Promise.allSettled(
    series.map((running) =>
      running.catch((error) => {
        failed = true;
        throw error;
      }),
    ),
  );
  for (const result of results) if (result.status === 'rejected') throw result.reason;
}
