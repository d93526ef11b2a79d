import { withPeakMemory } from '../measure/memory.js';
import { startObserving } from '../measure/observe.js';

/** @import { Stand } from '../stand/index.js' */
/** @import { Line } from '../stand/line.js' */
/** @import { Kind, Read, Target } from './kinds.js' */

/**
 * What reading took, and what it was measured on.
 *
 * @typedef {Read & { mb: number, steal: number, others: number }} Measured `mb`: the most memory that
 *   the HTTP process had
 */

/**
 * @param {Stand} stand
 * @param {Line} line whose data is read
 * @returns {Promise<(kind: Kind, target: Target, forMs: number) => Promise<Measured>>}
 */
export async function openReader(stand, line) {
  const front = await stand.front(line);
  const http = Number(front.pids['http']);
  return async (kind, target, forMs) => {
    const observed = await startObserving({ ...line.pids, ...front.pids, database: stand.database });
    const { value, mb } = await withPeakMemory(http, front.read(kind, target, forMs));
    const { steal, others } = await observed();
    return { ...value, mb, steal, others };
  };
}
