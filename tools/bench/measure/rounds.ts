/** If the host takes a larger share of the machine's CPU time during a round, the round is repeated. */
export const MOST_STEAL = 0.05;

/** Maximum number of repeats of a round. After these repeats, the run with the least steal counts, and the table shows its steal. */
const MOST_REPEATS = 2;

/**
 * Measures variants side by side. Every round measures each variant once, and every other round in the opposite order. So a slow
 * change of the machine, or the effect of one variant on the next, affects all variants.
 *
 * @template {{ steal: number, others: number }} R
 * @template {string} Name
 * @param {object} options
 * @param {Name[]} options.names names of the variants
 * @param {number} options.rounds
 * @param {(name: Name) => Promise<R>} options.measure
 * @param {number} [options.mostRepeats] maximum number of repeats of a round with too much steal
 * @param {(text: string) => void} [options.onStatus] called before each measurement
 * @returns {Promise<Round<Name, R>[]>}
 */
export async function alternate({ names, rounds, measure, mostRepeats = MOST_REPEATS, onStatus = () => {} }) {
  /** @param {Name[]} order @param {string} title @returns {Promise<Round<Name, R>>} */
  async function once(order, title) {
    const results = /** @type {Record<Name, R>} */ ({});
    for (const name of order) {
      onStatus(`${title}: ${name}`);
      results[name] = await measure(name);
    }
    const most = (/** @type {'steal' | 'others'} */ key) =>
      Math.max(...order.map((name) => results[name][key]));
    return { results, steal: most('steal'), others: most('others'), repeats: 0 };
  }

  /** @type {Round<Name, R>[]} */
  const done = [];
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? names : [...names].reverse();
    const title = `round ${round + 1} of ${rounds}`;
    let best = await once(order, title);
    for (let repeats = 1; repeats <= mostRepeats && best.steal > MOST_STEAL; repeats++) {
      const again = await once(order, `${title}, again since the host took CPU away`);
      best = { ...(again.steal < best.steal ? again : best), repeats };
    }
    done.push(best);
  }
  return done;
}

/**
 * @template {string} Name
 * @template R
 * @typedef {{ results: Record<Name, R>, steal: number, others: number, repeats: number }} Round `steal`, `others`: the maximum
 *   over the variants
 */

/**
 * @param {number[]} numbers
 * @returns {number} the median: the middle number, or the mean of the two middle numbers; NaN for an empty list
 */
export function median(numbers) {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = Number(sorted[middle]);
  return sorted.length % 2 === 1 ? upper : (Number(sorted[middle - 1]) + upper) / 2;
}

/**
 * @template {string} Name
 * @template R
 * @param {Round<Name, R>[]} rounds
 * @param {(results: Record<Name, R>) => number} read returns a figure of one round, such as a ratio of two variants
 * @returns {number} the median of the figure over all rounds
 */
export const medianOf = (rounds, read) => median(rounds.map(({ results }) => read(results)));
