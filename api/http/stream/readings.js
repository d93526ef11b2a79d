/** @import { Logger } from 'pino' */
/** @import { LatestRow } from '../../store/devices/latest-rows.js' */

/** A reading that failed is tried again after this long, in ms, or after the usual time where that is shorter. */
const AGAIN_MS = 5000;

/**
 * Reads what a channel follows: once when it opens, then again and again, page by page and spread over the time, and at
 * once after live changes may have been missed.
 *
 * @param {object} parts
 * @param {() => AsyncIterator<LatestRow[]>} parts.pages reads the first again, then those after it
 * @param {(read: () => Promise<LatestRow[] | null>) => Promise<boolean>} parts.take has one page read, and takes it in;
 *   false: there is no more
 * @param {() => void} parts.begin told before a reading
 * @param {() => void} parts.end told after a whole one
 * @param {number} parts.everyMs
 * @param {Logger} parts.logger
 */
export function createReadings({ pages, take, begin, end, everyMs, logger }) {
  let stopped = false;
  let urgent = false;
  let count = 1;
  let wake = () => {};

  /** @param {number} ms @returns {Promise<void>} */
  const pause = (ms) =>
    new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });

  /** @param {number} pauseMs before each page @returns {Promise<void>} settles when all is read, or something is more urgent */
  async function readAll(pauseMs) {
    const iterator = pages();
    const read = async () => {
      const { done, value } = await iterator.next();
      return done ? null : value;
    };
    begin();
    for (let pagesRead = 0; ; pagesRead++) {
      if (pauseMs > 0) await pause(pauseMs);
      if (stopped || urgent) return;
      if (!(await take(read))) {
        count = Math.max(1, pagesRead);
        return end();
      }
    }
  }

  async function keepReading() {
    while (!stopped) {
      // One pause more than pages: the last is before the end is found.
      const pauseMs = urgent ? 0 : everyMs / (count + 1);
      urgent = false;
      try {
        await readAll(pauseMs);
      } catch (error) {
        logger.warn({ reason: String(error) }, 'what is followed live could not be read again');
        if (!stopped) await pause(Math.min(AGAIN_MS, everyMs));
        urgent = true;
      }
    }
  }

  return {
    /** @returns {Promise<void>} settles when all is read once; fails when it cannot be */
    async start() {
      do {
        urgent = false;
        await readAll(0);
      } while (urgent && !stopped);
      void keepReading();
    },

    /** Now, all of it. */
    hurry() {
      urgent = true;
      wake();
    },

    stop() {
      stopped = true;
      wake();
    },
  };
}
