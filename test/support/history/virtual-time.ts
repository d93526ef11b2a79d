import { EventEmitter } from 'node:events';

/** Turns of the event loop without progress, after which only time can cause progress. */
const QUIET_TURNS = 4;

/**
 * Makes virtual time. Sleepers wake in order, one after the other. Between two of them, all woken code runs until it sleeps
 * again, however long requests to the real database take.
 * @param start epoch ms
 * @param onTime called with each new time, in epoch ms
 */
export function createVirtualTime(start: number, onTime: (now: number) => void = () => {}) {
  let now = start;
  /** Sleepers, to be woken in order of time, then of arrival. */
  const sleepers: Array<{ at: number; wake: () => void }> = [];
  const answered = new EventEmitter();
  let underWay = 0;
  let steps = 0;

  /** @param at epoch ms */
  function insert(at: number, wake: () => void) {
    let index = sleepers.length;
    while (index > 0 && (sleepers[index - 1] as { at: number }).at > at) index--;
    sleepers.splice(index, 0, { at, wake });
  }

  /** Settles with the next answer of the database. */
  const nextAnswer = () => new Promise((resolve) => answered.once('answer', resolve));

  /** Waits until no request is pending and no code made progress for some turns of the event loop. */
  async function untilQuiet() {
    for (let quiet = 0; quiet < QUIET_TURNS; quiet++) {
      const before = steps;
      if (underWay > 0) await nextAnswer();
      await new Promise((resolve) => setImmediate(resolve));
      if (underWay > 0 || steps !== before) quiet = -1;
    }
  }

  return {
    get now() {
      return now;
    },

    sleep(ms: number): Promise<void> {
      steps++;
      return new Promise((resolve) => insert(now + ms, () => resolve(undefined)));
    },

    /** @param request to the real database, without virtual time */
    async real<T>(request: () => Promise<T>): Promise<T> {
      underWay++;
      try {
        return await request();
      } finally {
        underWay--;
        steps++;
        answered.emit('answer');
      }
    },

    /** @param at epoch ms */
    at(at: number, begin: () => unknown) {
      insert(Math.max(at, now), () => void begin());
    },

    /** @param until epoch ms: wakes all sleepers up to this time */
    async run(until: number) {
      await untilQuiet();
      for (let next = sleepers[0]; next && next.at <= until; next = sleepers[0]) {
        sleepers.shift();
        now = next.at;
        onTime(now);
        steps++;
        next.wake();
        await untilQuiet();
      }
      now = Math.max(now, until);
      onTime(now);
    },
  };
}

export type VirtualTime = ReturnType<typeof createVirtualTime>;
