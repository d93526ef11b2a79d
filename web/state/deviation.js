import { createRange, isLearning, learn, levelOf, scoreOf, spreadOf } from './baseline.js';
import { USUAL } from './cell-state.js';

/** @import { Range } from './baseline.js' */

/**
 * @typedef {{ ts: number, value: number }} Sample `ts` in epoch ms
 *
 * @typedef {object} Judgement of a sensor's newest value
 * @property {number} mean what is usual for it
 * @property {number} spread around that, in the same unit
 * @property {number} off how far the value is above or (negative) below the mean
 * @property {number} look of its cell on the wall
 */

/**
 * Judges the values of one sensor as the wall does, where there is no wall.
 *
 * @param {object} [known]
 * @param {Range} [known.range] what was learned before; it is not changed
 * @param {number} [known.typical] spread of all sensors of its type; 0: not known
 * @param {number} [known.score] of the newest value that was learned
 * @param {number} [known.value] that one
 */
export function createJudge({ range: learned = createRange(), typical = 0, score = 0, value = 0 } = {}) {
  const range = { ...learned };
  let judgement = isLearning(range) ? null : judge(value, score);

  /** @param {number} newest @param {number} newestScore @returns {Judgement} */
  function judge(newest, newestScore) {
    const { mean } = range;
    const spread = spreadOf(range, typical);
    return { mean, spread, off: newest - mean, look: USUAL + levelOf(newestScore) };
  }

  return {
    /**
     * Takes in what is newer than all before. A value is judged by what was usual before it.
     *
     * @param {readonly Sample[]} samples oldest first
     * @returns {Judgement | null} of the newest; null: too few were seen
     */
    take(samples) {
      for (const sample of samples) {
        if (sample.ts <= range.at) continue;
        judgement = isLearning(range) ? null : judge(sample.value, scoreOf(range, sample.value, typical));
        learn(range, sample.ts, sample.value, typical);
      }
      return judgement;
    },
  };
}

/** @typedef {ReturnType<typeof createJudge>} Judge */
