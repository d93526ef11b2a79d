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

const REFERENCE_TEXT = JSON.stringify(
  Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`m${i}`, i])),
);

/** CPU time of the reference work on a quiet processor, in ms. */
const REFERENCE_MS = 6;

/** @returns how much longer the reference work takes now. A busy machine shares caches and cores, so CPU time grows too. */
function slowness(): number {
  const before = threadCpuMs();
  for (let run = 0; run < 5; run++) JSON.parse(REFERENCE_TEXT);
  return Math.max(1, (threadCpuMs() - before) / 5 / REFERENCE_MS);
}

/**
 * @param work settles when it is done; its errors are dropped
 * @returns CPU time of its longest turn in ms. A turn over the limit is tried again twice, because the first run compiles the code, and is
 * then measured against the reference work
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
    const longest = turns.longest();
    turns.end();
    least = Math.min(least, longest < MAX_TURN_MS ? longest : longest / slowness());
  }
  return least;
}
