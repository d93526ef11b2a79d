import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Random } from '../../../simulator/random.js' */

/** Between two faults of a lane, in ms. */
const PAUSE_MS = { from: 500, to: 2500 };

/**
 * One thing that fails, and is mended.
 *
 * @typedef {object} Fault
 * @property {string} title
 * @property {() => Promise<void>} strike settles when it is mended
 */

/**
 * What goes wrong meanwhile: the faults of the first lane, each once; beside them those of the second, each at least
 * once and over and over until the first is through. Each lane's order and pauses follow from the seed.
 *
 * @param {object} options
 * @param {Fault[]} options.once
 * @param {Fault[]} options.meanwhile
 * @param {Random[]} options.randoms one a lane
 * @param {(text: string) => void} options.say
 */
export async function wreak({ once, meanwhile, randoms: [first, second], say }) {
  let through = false;
  let failed = false;

  /** @param {Fault[]} faults @param {Random | undefined} random @param {() => boolean} goOn */
  async function strikeAll(faults, random, goOn) {
    if (!random) throw new Error('a lane needs its random numbers');
    for (const { title, strike } of random.shuffled(faults)) {
      // The pauses are part of what is played, not a wait for something.
      await sleep(random.between(PAUSE_MS.from, PAUSE_MS.to));
      if (failed || !goOn()) return;
      say(title);
      await strike();
      say(`${title}: mended`);
    }
  }

  const lanes = [
    strikeAll(once, first, () => true).finally(() => {
      through = true;
    }),
    (async () => {
      await strikeAll(meanwhile, second, () => true);
      while (!through) await strikeAll(meanwhile, second, () => !through);
    })(),
  ];
  const ended = await Promise.allSettled(
    lanes.map((lane) =>
      lane.catch((error) => {
        failed = true;
        throw error;
      }),
    ),
  );
  for (const one of ended) if (one.status === 'rejected') throw one.reason;
}
