import type { Random } from '../../random.ts';
import { createDrift, within } from '../components.ts';

/** Mean times that a machine runs and stands, and the time constant of start and stop. */
const WORKS_MS = 2_400_000;
const STANDS_MS = 300_000;
const INERTIA_MS = 20_000;

/**
 * The state that all sensors of a machine share: whether the machine runs, how fast, and how hard it works. Each sensor computes its own
 * copy of the state. The copies are equal if each sensor advances its copy at every step, because they use the same random numbers.
 * @param random of the machine
 * @returns advances the state by one step; speed and load are from 0 to 1
 */
export function createRun(
  random: Random,
  intervalMs: number,
): () => { running: boolean; speed: number; load: number } {
  const stops = 1 - Math.exp(-intervalMs / WORKS_MS);
  const begins = 1 - Math.exp(-intervalMs / STANDS_MS);
  const approach = 1 - Math.exp(-intervalMs / INERTIA_MS);
  const effort = createDrift(random, intervalMs, { memoryMs: 120_000, deviation: 0.15 });
  const now = { running: random.uniform() < 0.85, speed: 0, load: 0 };
  now.speed = now.running ? 1 : 0;
  return () => {
    const changes = random.uniform() < (now.running ? stops : begins);
    if (changes) now.running = !now.running;
    now.speed += ((now.running ? 1 : 0) - now.speed) * approach;
    now.load = now.speed * within(0.6 + effort(), 0.1, 1);
    return now;
  };
}
