import { setTimeout as sleep } from 'node:timers/promises';

/** @import { Shape } from '../load/shapes.js' */
/** @import { Line } from '../stand/line.js' */

/**
 * Devices that go on measuring while others read: at a fixed rate, into one line at a time.
 *
 * @param {object} parts
 * @param {Shape} parts.shape
 * @param {number} parts.rate samples/s
 * @param {number} parts.warmMs after each change
 */
export function createBackground({ shape, rate, warmMs }) {
  /** @type {Line | null} */
  let current = null;
  /** @type {() => Promise<void>} */
  let end = async () => {};

  async function stop() {
    current = null;
    const ending = end;
    end = async () => {};
    await ending();
  }

  return {
    /** @param {Line} line */
    async into(line) {
      if (line === current) return;
      await stop();
      end = await line.hold(shape, rate);
      current = line;
      await sleep(warmMs);
    },

    /** Settles when all of it is committed. */
    stop,
  };
}
