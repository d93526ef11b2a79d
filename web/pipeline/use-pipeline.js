import { useEffect, useState } from 'preact/hooks';
import { toProblem } from '../api/problem.js';
import { useServices } from '../state/hooks.js';

/** @import { Problem } from '../api/problem.js' */

const EVERY_MS = 3000;
/** Devices are counted every 10 s at most. */
const FLEET_EVERY_MS = 10_000;

/**
 * @template T
 * @typedef {{ data: T | null, at: number, problem: Problem | null }} Polled `at`: epoch ms when this was so
 */

/**
 * Polls the API. Unlike `useQuery`, it reports each failed refresh, since the view of the pipeline shows it.
 *
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} ask the same function on every drawing
 * @param {number} everyMs
 * @returns {Polled<T>}
 */
function usePolled(ask, everyMs) {
  const { clock } = useServices();
  const [polled, setPolled] = useState(/** @type {Polled<T>} */ ({ data: null, at: 0, problem: null }));
  useEffect(() => {
    const abort = new AbortController();
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    async function poll() {
      try {
        const data = await ask(abort.signal);
        setPolled({ data, at: clock.now(), problem: null });
      } catch (error) {
        if (abort.signal.aborted) return;
        setPolled((before) => ({ ...before, problem: toProblem(error) }));
      }
      if (!abort.signal.aborted) timer = setTimeout(poll, everyMs);
    }
    void poll();
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [ask, clock, everyMs]);
  return polled;
}

/** The processes, the database and the broker. */
export function usePipeline() {
  const { client } = useServices();
  return usePolled(client.pipeline, EVERY_MS);
}

/** How many devices there are. */
export function useFleetCount() {
  const { client } = useServices();
  return usePolled(client.fleet, FLEET_EVERY_MS).data;
}
