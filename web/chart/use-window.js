import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useObservable, useParts } from '../state/hooks.js';
import { roundSpan, USUAL_SPAN_MS } from './spans.js';
import { lengthOf, liveWindow, readWindow, writeWindow } from './window.js';

/** @import { Window } from './window.js' */

/** As far back as is kept, unless something older is known: `HISTORY_DAYS` by default. */
const RETENTION_MS = 365 * 86_400_000;

/**
 * The stretch of time that a view shows. It stands in the address: reload, back and sharing work. While it is being dragged it
 * is only shown; what was settled on is a step that Back takes back.
 *
 * `settled` is what the address says, `window` what is to be drawn.
 *
 * @param {number | null} newest epoch ms of the newest sample: a device whose clock is ahead of ours is shown too
 * @param {number} [earliest] epoch ms, where there is something older than the usual retention
 */
export function useWindow(newest, earliest = Number.POSITIVE_INFINITY) {
  const { clock, router } = useParts();
  const { query } = useObservable(router.place);
  const now = Math.max(useObservable(clock), newest ?? 0);
  const [draft, setDraft] = useState(/** @type {Window | null} */ (null));
  const chosen = readWindow(query, now);
  const home = useRef(USUAL_SPAN_MS);
  if (chosen.live) home.current = lengthOf(chosen);
  useEffect(() => setDraft(null), [query]);

  const stands = draft ?? chosen;
  const window = stands.live ? liveWindow(lengthOf(stands), now) : stands;
  const actions = useMemo(() => {
    /** @param {Window} next @param {{ replace?: boolean }} [how] */
    const settleOn = (next, how) => {
      setDraft(null);
      const changes = writeWindow(next);
      const before = router.place.get().query;
      const isNew = Object.entries(changes).some(([name, value]) => before.get(name) !== value);
      if (isNew) router.changeQuery(changes, how);
    };
    return {
      /** @param {Window} next @param {boolean} isSettled */
      change(next, isSettled) {
        if (!isSettled) setDraft(next);
        else settleOn(next.live ? liveWindow(roundSpan(lengthOf(next)), next.to) : next);
      },
      /** @param {number} ms ends now, and goes on */
      goLive: (ms) => settleOn(liveWindow(ms, clock.now())),
      /** Back to what was live last. */
      reset: () => settleOn(liveWindow(home.current, clock.now())),
    };
  }, [router, clock]);

  const bounds = { now, earliest: Math.min(now - RETENTION_MS, earliest) };
  return { window, settled: chosen, bounds, ...actions };
}
