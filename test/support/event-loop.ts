import { readFileSync } from 'node:fs';

/** CPU time of a turn of the event loop that no input may exceed, in ms. */
export const MAX_TURN_MS = 100;

/** @returns CPU time of this thread in ms, which other processes and threads of a busy machine do not change */
export function threadCpuMs(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }
}

/**
 * Measures the CPU time of the turns of the event loop. A turn is what runs between two ticks of a timer that is always due.
 * @returns `longest`: CPU time of the longest turn since the last call, in ms
 */
export function watchTurns(): { longest: () => number; end: () => void } {
  let last = threadCpuMs();
  let longest = 0;
  function sample() {
    const now = threadCpuMs();
    longest = Math.max(longest, now - last);
    last = now;
  }
  const timer = setInterval(sample, 2);
  return {
    longest() {
      sample();
      const result = longest;
      longest = 0;
      return result;
    },
    end: () => clearInterval(timer),
  };
}

/**
 * @param work settles when it is done; its errors are dropped
 * @returns CPU time of its longest turn in ms. A turn over the limit is tried again twice, because the first run compiles the code
 */
export async function longestTurn(work: () => unknown): Promise<number> {
  let least = Infinity;
  for (let run = 0; run < 3 && least > MAX_TURN_MS; run++) {
    const turns = watchTurns();
    try {
      await work();
    } catch {
      // A hostile input may be refused.
    }
    least = Math.min(least, turns.longest());
    turns.end();
  }
  return least;
}
