/**
 * Processes items with bounded concurrency. Items start in order. After a failure no further item starts.
 *
 * @template T
 * @param {number} concurrency
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @param {(item: T) => Promise<unknown>} work
 * @returns {Promise<void>} settles when no work is running
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
 * Makes an iterator that several loops can share. It ends for all of them when one of them ends early.
 *
 * @template T
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @returns {AsyncGenerator<T, void>}
 */
async function* shared(items) {
  yield* items;
}

/**
 * Works ahead on items, and yields the results in the order of the items.
 *
 * @template T, R
 * @param {number} concurrency
 * @param {Iterable<T>} items
 * @param {(item: T) => Promise<R>} work
 * @returns {AsyncGenerator<R, void>}
 * @throws the error of the first item that failed, in its turn
 */
export async function* mapInOrder(concurrency, items, work) {
  /** @type {Array<Promise<R>>} */
  const running = [];
  for (const item of items) {
    const result = work(item);
    // The failure is thrown when the caller reaches this item, if it does.
    result.catch(() => {});
    running.push(result);
    if (running.length >= concurrency) yield await /** @type {Promise<R>} */ (running.shift());
  }
  for (const result of running) yield await result;
}
