/** A round during which the host took more of the machine than this is repeated. */
export const MOST_STEAL = 0.05;

/** The most repeats of a round. After them its best run counts, and the table shows its steal. */
const MOST_REPEATS = 2;

/**
 * Measures variants side by side. Every round measures each of them once, every other round in the opposite order. So a change on the
 * machine, slow or after a certain variant, affects all of them.
 *
 * @template {{ steal: number, others: number }} R
 * @template {string} Name
 * @param {object} options
 * @param {Name[]} options.names of the variants
 * @param {number} options.rounds
 * @param {(name: Name) => Promise<R>} options.measure
 * @param {number} [options.mostRepeats] of a round that was not quiet
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
 * @typedef {{ results: Record<Name, R>, steal: number, others: number, repeats: number }} Round `steal`, `others`: the most in any run of it
 */

/** @param {number[]} numbers @returns {number} the middle one, or the mean of the two in the middle; NaN of none */
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
 * @param {(results: Record<Name, R>) => number} read a figure of one round, such as a ratio within it
 * @returns {number} the median over all rounds
 */
export const medianOf = (rounds, read) => median(rounds.map(({ results }) => read(results)));
