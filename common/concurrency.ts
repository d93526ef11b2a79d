/**
 * Processes items with bounded concurrency. The items start in order. After a failure no further item starts.
 *
 * @template T
 * @param {number} concurrency
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @param {(item: T) => Promise<unknown>} work
 * @returns {Promise<void>} settles when no work is running any more, also after a failure
 * @throws the error of the first failure
 */
export async function forEachConcurrently(concurrency, items, work) {
  const remaining = shared(items);
  const worker = async () => {
    for await (const item of remaining) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * Makes an iterator that several loops can share. If one loop ends early, the iterator ends for all loops.
 *
 * @template T
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @returns {AsyncGenerator<T, void>}
 */
async function* shared(items) {
  yield* items;
}

/**
 * Processes items with bounded concurrency ahead of the caller, and yields the results in the order of the items.
 *
 * @template T, R
 * @param {number} concurrency
 * @param {Iterable<T>} items
 * @param {(item: T) => Promise<R>} work
 * @returns {AsyncGenerator<R, void>}
 * @throws the error of a failed item, after the results of all items before it
 */
export async function* mapInOrder(concurrency, items, work) {
  /** @type {Array<Promise<R>>} */
  const running = [];
  for (const item of items) {
    const result = work(item);
    // Without a handler, Node.js would end the process. The `yield` below throws the error, if the caller gets that far.
    result.catch(() => {});
    running.push(result);
    if (running.length >= concurrency) yield await /** @type {Promise<R>} */ (running.shift());
  }
  for (const result of running) yield await result;
}

/** Age in ms from which on a running call, such as a read that hangs, is neither shared nor waited for. */
const MAX_SHARED_MS = 10_000;

/**
 * Shares running calls: concurrent calls with the same key run once, and all callers get the result or the error. A call that
 * has run for ten seconds is not shared any more.
 *
 * @template {{ id: string }} Key
 * @template T
 */
export class SharedCalls {
  #run;
  #maxSharedMs;
  /** Running calls by the id of the key. @type {Map<string, { answer: Promise<T>, since: number }>} */
  #running = new Map();

  /**
   * @param {(key: Key, isShared: () => boolean) => Promise<T>} run `isShared`: false after `forget`, and after a later run of the key began
   * @param {{ maxSharedMs?: number }} [options]
   */
  constructor(run, { maxSharedMs = MAX_SHARED_MS } = {}) {
    this.#run = run;
    this.#maxSharedMs = maxSharedMs;
  }

  /** @param {Key} key @returns {Promise<T>} */
  call(key) {
    const now = performance.now();
    const shared = this.#running.get(key.id);
    if (shared && now - shared.since < this.#maxSharedMs) return shared.answer;
    const isShared = () => this.#running.get(key.id)?.answer === answer;
    /** @type {Promise<T>} */
    const answer = this.#run(key, isShared).finally(() => {
      if (isShared()) this.#running.delete(key.id);
    });
    this.#running.set(key.id, { answer, since: now });
    return answer;
  }

  /** Stops sharing the running call of a key: later calls begin a new one. @param {string} id id of the key */
  forget(id) {
    this.#running.delete(id);
  }
}

/**
 * Joins calls. Unlike with `SharedCalls`, no call gets the result of a run that began before the call: it waits for the end of that
 * run, and then all waiting calls with the same key share one run. So each run sees everything that was stored before its calls. A call
 * waits for ten seconds at most, and then runs although an earlier run still hangs.
 *
 * @template T
 */
export class JoinedCalls {
  /** The newest run of each key. @type {Map<string, { hasBegun: boolean, result: Promise<T> }>} */
  #newest = new Map();
  #maxWaitMs;

  /** @param {{ maxWaitMs?: number }} [options] */
  constructor({ maxWaitMs = MAX_SHARED_MS } = {}) {
    this.#maxWaitMs = maxWaitMs;
  }

  /**
   * @param {string} key
   * @param {() => Promise<T>} run the work of all calls with this key
   * @returns {Promise<T>}
   */
  call(key, run) {
    const before = this.#newest.get(key);
    if (before && !before.hasBegun) return before.result;
    const own = { hasBegun: false, result: /** @type {Promise<T>} */ (Promise.resolve()) };
    // The run begins one microtask later, so that calls of the same moment share it.
    own.result = (before ? endOf(before.result, this.#maxWaitMs) : Promise.resolve()).then(() => {
      own.hasBegun = true;
      return run();
    });
    this.#newest.set(key, own);
    const remove = () => {
      if (this.#newest.get(key) === own) this.#newest.delete(key);
    };
    own.result.then(remove, remove);
    return own.result;
  }
}

/** @param {Promise<unknown>} call @param {number} withinMs @returns {Promise<void>} settles when the call has ended, or after `withinMs` */
const endOf = (call, withinMs) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, withinMs).unref();
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    call.then(end, end);
  });
