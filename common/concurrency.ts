/**
 * The items start in order. After a failure no further item starts.
 * @returns settles when no work is running any more, also after a failure
 * @throws the error of the first failure
 */
export async function forEachConcurrently<T>(
  concurrency: number,
  items: Iterable<T> | AsyncIterable<T>,
  work: (item: T) => Promise<unknown>,
): Promise<void> {
  const remaining = shared(items);
  const worker = async () => {
    for await (const item of remaining) await work(item);
  };
  const ends = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  const failed = ends.find((end) => end.status === 'rejected');
  if (failed) throw failed.reason;
}

/** If one loop ends early, the iterator ends for all loops. */
async function* shared<T>(items: Iterable<T> | AsyncIterable<T>): AsyncGenerator<T, void> {
  yield* items;
}

/**
 * Works ahead of the caller, and yields the results in the order of the items.
 * @throws the error of a failed item, after the results of all items before it
 */
export async function* mapInOrder<T, R>(
  concurrency: number,
  items: Iterable<T>,
  work: (item: T) => Promise<R>,
): AsyncGenerator<R, void> {
  const running: Array<Promise<R>> = [];
  for (const item of items) {
    const result = work(item);
    // Without a handler, Node.js would end the process. The `yield` below throws the error, if the caller gets that far.
    result.catch(() => {});
    running.push(result);
    if (running.length >= concurrency) yield await (running.shift() as Promise<R>);
  }
  for (const result of running) yield await result;
}

/** In ms. Then a running call, such as a read that hangs, is neither shared nor waited for. */
const MAX_SHARED_MS = 10_000;

/**
 * Concurrent calls with the same key run once, and all callers get the result or the error. A call that has run for ten
 * seconds is not shared any more.
 */
export class SharedCalls<Key extends { id: string }, T> {
  #run;
  #maxSharedMs;
  #running: Map<string, { answer: Promise<T>; since: number }> = new Map();

  /** @param run `isShared`: false after `forget`, and after a later run of the key began */
  constructor(
    run: (key: Key, isShared: () => boolean) => Promise<T>,
    { maxSharedMs = MAX_SHARED_MS }: { maxSharedMs?: number } = {},
  ) {
    this.#run = run;
    this.#maxSharedMs = maxSharedMs;
  }

  call(key: Key): Promise<T> {
    const now = performance.now();
    const shared = this.#running.get(key.id);
    if (shared && now - shared.since < this.#maxSharedMs) return shared.answer;
    const isShared = () => this.#running.get(key.id)?.answer === answer;
    const answer: Promise<T> = this.#run(key, isShared).finally(() => {
      if (isShared()) this.#running.delete(key.id);
    });
    this.#running.set(key.id, { answer, since: now });
    return answer;
  }

  /** Later calls begin a new run. */
  forget(id: string) {
    this.#running.delete(id);
  }
}

/**
 * Unlike with `SharedCalls`, no call gets the result of a run that began before the call: it waits for the end of that
 * run, and then all waiting calls with the same key share one run. So each run sees everything that was stored before
 * its calls. A call waits for ten seconds at most, and then runs although an earlier run still hangs.
 */
export class JoinedCalls<T> {
  #newest: Map<string, { hasBegun: boolean; result: Promise<T> }> = new Map();
  #maxWaitMs;

  constructor({ maxWaitMs = MAX_SHARED_MS }: { maxWaitMs?: number } = {}) {
    this.#maxWaitMs = maxWaitMs;
  }

  call(key: string, run: () => Promise<T>): Promise<T> {
    const before = this.#newest.get(key);
    if (before && !before.hasBegun) return before.result;
    const own = { hasBegun: false, result: Promise.resolve() as Promise<T> };
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

const endOf = (call: Promise<unknown>, withinMs: number): Promise<void> =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, withinMs).unref();
    const end = () => {
      clearTimeout(timer);
      resolve();
    };
    call.then(end, end);
  });
