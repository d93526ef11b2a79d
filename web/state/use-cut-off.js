import { useEffect, useRef } from 'preact/hooks';
import { useObservable, useParts } from './hooks.js';

/**
 * Since when nothing was heard of the server, which otherwise tells something each second.
 *
 * @returns {number | null} epoch ms; null: the connection is there
 */
export function useCutOff() {
  const { clock, live } = useParts();
  const status = useObservable(live.status);
  const heardAt = useRef(clock.now());
  useEffect(
    () =>
      live.stats.subscribe(() => {
        heardAt.current = clock.now();
      }),
    [clock, live],
  );
  return status === 'reconnecting' ? heardAt.current : null;
}
