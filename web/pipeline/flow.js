/** A mark moves from one to the next in so many seconds, at one sample a second and at ten thousand. */
const SLOWEST_S = 3;
const FASTEST_S = 0.6;
const DECADES = 4;
/** Steps are coarse: each change of the speed is a small jump. */
const STEP_S = 0.4;

/**
 * @param {number} perSecond
 * @returns {number | null} seconds; by tenfold rates, so that both a few devices and a whole fleet are seen to move; null: nothing flows
 */
export function flowSeconds(perSecond) {
  if (!(perSecond > 0)) return null;
  const share = Math.min(Math.max(Math.log10(perSecond) / DECADES, 0), 1);
  const seconds = SLOWEST_S - share * (SLOWEST_S - FASTEST_S);
  return Math.round(Math.round(seconds / STEP_S) * STEP_S * 10) / 10;
}
