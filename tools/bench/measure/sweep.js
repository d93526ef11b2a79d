/**
 * Finds the number of requests in flight at which a baseline is fastest.
 *
 * @param {object} options
 * @param {number[]} options.candidates
 * @param {(inFlight: number) => Promise<number>} options.measure samples/s with that many
 * @returns {Promise<Sweep>}
 */
export async function sweep({ candidates, measure }) {
  /** @type {Sweep['tried']} */
  const tried = [];
  for (const inFlight of candidates) tried.push({ inFlight, rate: await measure(inFlight) });
  const best = tried.reduce((leader, one) => (one.rate > leader.rate ? one : leader));
  return { tried, best: best.inFlight };
}

/** @typedef {{ tried: Array<{ inFlight: number, rate: number }>, best: number }} Sweep */
