/** @import { StatusLine } from '../../common/status-line.js' */

/**
 * A list of finished steps with their times; the current step stands below it.
 *
 * @param {StatusLine} line
 */
export const createSteps =
  (line) =>
  /**
   * @template T
   * @param {string} done what is true afterwards
   * @param {(onStatus: (text: string) => void) => Promise<T>} task
   * @returns {Promise<T>}
   */
  async (done, task) => {
    const began = Date.now();
    const result = await task(line.update);
    line.clear();
    line.print(`✓ ${done} in ${((Date.now() - began) / 1000).toFixed(1)} s`);
    return result;
  };
