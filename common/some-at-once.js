/**
 * Works through a list, or what comes one by one, a bounded number of items at once, begun in order. After a failure nothing new is begun.
 *
 * @template T
 * @param {number} most
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @param {(item: T) => Promise<unknown>} work
 * @returns {Promise<void>} settles when nothing is under way any more
 * @throws what the first failure threw
 */
export async function someAtOnce(most, items, work) {
  const left = takingTurns(items);
  const worker = async () => {
    for await (const item of left) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: most }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/**
 * An iterator that several loops share, and that ends for all of them when one of them is left.
 *
 * @template T
 * @param {Iterable<T> | AsyncIterable<T>} items
 * @returns {AsyncGenerator<T, void>}
 */
async function* takingTurns(items) {
  yield* items;
}
