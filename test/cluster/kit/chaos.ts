import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Random } from '../../../simulator/random.js' */

/** The pause before each fault, in ms. */
const PAUSE_MS = { from: 500, to: 2500 };

/**
 * One failure, and its repair.
 *
 * @typedef {object} Fault
 * @property {string} title
 * @property {() => Promise<void>} inject settles when the failure is over
 */

/**
 * Injects two series of faults at the same time. The first series runs once. The second one runs at least once, and
 * repeats until the first one has ended. The seed determines the order and the pauses of each series.
 *
 * @param {object} options
 * @param {Fault[]} options.once
 * @param {Fault[]} options.meanwhile
 * @param {Random[]} options.randoms one for each series
 * @param {(text: string) => void} options.report
 */
export async function injectFaults({ once, meanwhile, randoms: [first, second], report }) {
  let onceEnded = false;
  let failed = false;

  /** @param {Fault[]} faults @param {Random | undefined} random @param {() => boolean} shouldContinue */
  async function injectAll(faults, random, shouldContinue) {
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
