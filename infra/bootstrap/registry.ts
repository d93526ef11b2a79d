import { setTimeout as sleep } from 'node:timers/promises';
import { MillraceError } from '../../common/errors.ts';

/** Pauses between the attempts, in ms. A mirror that restarts is available again within seconds. */
const PAUSES_MS = [5000, 20_000];

/**
 * Runs a task that needs a package registry. A failed task is repeated up to two times, because a registry may be unavailable for a
 * moment. A `MillraceError` of the task has another cause, so it is thrown at once.
 * @param registry name of the registry in messages, e.g. `Maven Central`
 * @throws `install_failed`: all three attempts failed
 */
export async function askRegistry<T>(
  registry: string,
  task: () => Promise<T>,
  {
    onStatus,
    advice = '',
    signal,
    pausesMs = PAUSES_MS,
  }: {
    onStatus: (text: string) => void;
    /** a sentence or a command that the error message shows */
    advice?: string;
    /** ends a pause between attempts; the task must observe the signal itself */
    signal?: AbortSignal;
    pausesMs?: number[];
  },
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await task();
    } catch (error) {
      if (signal?.aborted || error instanceof MillraceError) throw error;
      const pauseMs = pausesMs[tries];
      const reason = (error as Error).message;
      if (pauseMs === undefined) {
        throw new MillraceError(
          'install_failed',
          [`${registry} did not answer: ${reason}`, advice].filter(Boolean).join('\n'),
          { cause: error },
        );
      }
      onStatus(`${registry} did not answer; next try in ${pauseMs / 1000} s`);
      await sleep(pauseMs, undefined, { signal });
    }
  }
}
