/** @import { Store } from '../../../api/store/index.js' */
/** @import { VirtualTime } from './virtual-time.js' */

/** What a process needs of the store, by what it does. @type {Record<'ingest' | 'pack' | 'read', Array<keyof Store>>} */
const PARTS = {
  ingest: ['measurements', 'history', 'lateDays', 'registry'],
  pack: ['packing', 'packProgress'],
  read: ['packProgress', 'packed', 'samples', 'scans'],
};

/** Functions that only compute. */
const SYNCHRONOUS = new Set(['plan', 'encode', 'sensorWrites']);

/** Functions that write: after one of these a process may die. */
const WRITES = /\.(commit|write)/;

/**
 * The store as one process sees it: each request takes its time before it is sent and before its answer is there, and
 * after any of its writes the process may die, which nobody ever hears of.
 *
 * @param {Store} store
 * @param {object} options
 * @param {keyof typeof PARTS} options.role
 * @param {VirtualTime} options.time
 * @param {(name: string, phase: 'request' | 'answer') => number} options.delay ms before a request is sent, and before its
 *   answer is there, by part and function
 * @param {number} [options.diesAfter] writes
 */
export function storeOfProcess(store, { role, time, delay, diesAfter = Number.POSITIVE_INFINITY }) {
  let writes = 0;
  const isDead = () => writes >= diesAfter;
  const silence = () => new Promise(() => {});

  /** What takes no time is no event: most requests are answered within the moment in which they are sent. */
  async function pass(/** @type {string} */ name, /** @type {'request' | 'answer'} */ phase) {
    const ms = delay(name, phase);
    if (ms > 0) await time.sleep(ms);
  }

  /** @param {string} name @param {(...args: any[]) => any} request */
  const slow =
    (name, request) =>
    /** @param {any[]} args */
    async (...args) => {
      await pass(name, 'request');
      if (isDead()) return silence();
      const answer = await time.real(async () => request(...args));
      if (WRITES.test(name)) writes++;
      if (isDead()) return silence();
      await pass(name, 'answer');
      return answer;
    };

  /** @param {string} path @param {Record<string, any>} part @returns {Record<string, any>} */
  const slowPart = (path, part) =>
    Object.fromEntries(
      Object.entries(part).map(([name, member]) => {
        if (member !== null && typeof member === 'object') return [name, slowPart(`${path}.${name}`, member)];
        const passes = typeof member !== 'function' || SYNCHRONOUS.has(name);
        return [name, passes ? member : slow(`${path}.${name}`, member.bind(part))];
      }),
    );

  const parts = PARTS[role].map((name) => [name, slowPart(name, store[name])]);
  return {
    store: /** @type {Store} */ (Object.fromEntries(parts)),
    get isDead() {
      return isDead();
    },
  };
}
