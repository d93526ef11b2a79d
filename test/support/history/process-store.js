/** Functions that only compute. */
const SYNCHRONOUS = new Set(['plan', 'encode', 'sensorWrites']);

/** Functions that write: after one of these a process may die. */
const WRITES = /^(commit|write)/;

/**
 * The store as one process sees it: each request takes its time before it is sent and before its answer is there, and
 * after any of its writes the process may die, which nobody ever hears of.
 *
 * @param {import('../../../api/store/index.js').Store} store
 * @param {object} options
 * @param {import('./virtual-time.js').VirtualTime} options.time
 * @param {() => number} options.delay ms before a request is sent, and before its answer is there
 * @param {number} [options.diesAfter] writes
 */
export function storeOfProcess(store, { time, delay, diesAfter = Number.POSITIVE_INFINITY }) {
  let writes = 0;
  const isDead = () => writes >= diesAfter;
  const silence = () => new Promise(() => {});

  /** @param {string} name @param {(...args: any[]) => any} request */
  const slow =
    (name, request) =>
    /** @param {any[]} args */
    async (...args) => {
      await time.sleep(delay());
      if (isDead()) return silence();
      const answer = await time.real(async () => request(...args));
      if (WRITES.test(name)) writes++;
      if (isDead()) return silence();
      await time.sleep(delay());
      return answer;
    };

  /** @param {Record<string, any>} part @returns {Record<string, any>} */
  const slowPart = (part) =>
    Object.fromEntries(
      Object.entries(part).map(([name, member]) => {
        if (member !== null && typeof member === 'object') return [name, slowPart(member)];
        const passes = typeof member !== 'function' || SYNCHRONOUS.has(name);
        return [name, passes ? member : slow(name, member.bind(part))];
      }),
    );

  const parts = Object.entries(store).map(([name, part]) => [
    name,
    typeof part === 'function' ? part : slowPart(part),
  ]);
  return {
    store: /** @type {import('../../../api/store/index.js').Store} */ (Object.fromEntries(parts)),
    get isDead() {
      return isDead();
    },
  };
}
