import { MAX_STATEMENTS_PER_GROUP_COMMIT } from '../../schema/rules.js';

/**
 * Group commit without a timer: while a write for a group is in flight, updates for the same group wait, merge, and
 * leave together in one batch. Below saturation a batch holds one statement and nobody waits; the busier the database,
 * the larger the batches. A `latest` update costs 15 to 17 µs in a full batch against 35 µs alone.
 *
 *     in flight   [a b]                  one request a group
 *     waiting     [c d'] -> [e]          d' is d merged with a newer d; a batch is full at 256
 *
 * @template U
 * @param {object} parts
 * @param {(group: number, updates: U[]) => Promise<void>} parts.commit repeats what passes; its errors end all that wait
 * @param {(waiting: U, arriving: U) => U} parts.merge
 */
export function createGroupCommit({ commit, merge }) {
  /** @typedef {{ updates: Map<unknown, U>, done: Promise<void>, resolve: () => void, reject: (error: unknown) => void }} Batch */
  /** @type {Map<number, { waiting: Batch[] }>} a group is here while a write of it is in flight */
  const groups = new Map();

  /** @param {number} group @param {Batch} batch */
  async function send(group, batch) {
    try {
      await commit(group, [...batch.updates.values()]);
      batch.resolve();
    } catch (error) {
      batch.reject(error);
    }
    const next = groups.get(group)?.waiting.shift();
    if (next) void send(group, next);
    else groups.delete(group);
  }

  return {
    /**
     * @param {number} group
     * @param {unknown} key updates of one key merge while they wait
     * @param {U} update
     * @returns {Promise<void>} settles when this update, or one that contains it, is committed
     */
    add(group, key, update) {
      const busy = groups.get(group);
      if (!busy) {
        const batch = createBatch(key, update);
        groups.set(group, { waiting: [] });
        void send(group, batch);
        return batch.done;
      }
      const tail = busy.waiting.at(-1);
      const same = tail?.updates.get(key);
      if (tail && same !== undefined) tail.updates.set(key, merge(same, update));
      else if (tail && tail.updates.size < MAX_STATEMENTS_PER_GROUP_COMMIT) tail.updates.set(key, update);
      else {
        const batch = createBatch(key, update);
        busy.waiting.push(batch);
        return batch.done;
      }
      return tail.done;
    },
  };

  /** @param {unknown} key @param {U} update @returns {Batch} */
  function createBatch(key, update) {
    /** @type {() => void} */
    let resolve = () => {};
    /** @type {(error: unknown) => void} */
    let reject = () => {};
    const done = /** @type {Promise<void>} */ (
      new Promise((yes, no) => {
        resolve = () => yes(undefined);
        reject = no;
      })
    );
    return { updates: new Map([[key, update]]), done, resolve, reject };
  }
}
