import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useServices } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { openFeed } from './feed.js';
import { createReader } from './reader.js';
import { emptyShape } from './shape.js';

/** @import { Problem } from '../api/problem.js' */
/** @import { Shape } from './shape.js' */
/** @import { Window } from './window.js' */

/** While a window is still being dragged, nothing is asked for. */
const PAUSE_MS = 120;
/** After so long a wait is worth a word. */
const SLOW_MS = 4_000;
const WINDOWS_KEPT = 30;

/**
 * @typedef {object} SeriesAnswer
 * @property {Shape} shape of the window before, until that of this one is there
 * @property {boolean} loading
 * @property {boolean} slow
 * @property {Problem | null} problem why nothing new came; it is tried again where that may help
 * @property {() => void} reload
 */

/**
 * The shape of a sensor's signal in a window of time: the samples themselves where there are few, bins of them where there are
 * many. A live window goes on.
 *
 * @param {{ device_id: string, sensor_id: string } | null} sensor null: not known yet
 * @param {Window} window
 * @param {number} points bins at limit; `pointsFor` knows a good number
 * @returns {SeriesAnswer}
 */
export function useSeries(sensor, window, points) {
  const { client, clock, live } = useServices();
  const key = sensor ? keyOf(sensor) : '';
  const reader = useMemo(() => (sensor ? createReader(client, sensor) : null), [client, key]);
  const recent = useMemo(() => createRecent(WINDOWS_KEPT), [key]);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const [answer, setAnswer] = useState(NOTHING_YET);
  const isFirst = useRef(true);
  const { live: isLive, from, to } = window;
  const name = `${isLive ? to - from : `${from}/${to}`}/${points}`;

  // A live window moves on by itself: its name is its length.
  useEffect(() => {
    if (!reader) return undefined;
    const slowTimer = setTimeout(() => setAnswer((now) => ({ ...now, slow: true })), SLOW_MS);
    const known = recent.get(name);
    setAnswer((now) => ({ ...now, shape: known ?? now.shape, loading: true, slow: false }));
    let close = () => {};
    const open = () => {
      close = openFeed({
        reader,
        window: { live: isLive, from, to },
        points,
        end: () => Math.max(clock.now(), Date.parse(live.sensor(key)?.item.ts ?? '') || 0),
        subscribe: (listener) => live.subscribe(key, listener),
        onShape(shape) {
          recent.set(name, shape);
          setAnswer((now) => ({ ...now, shape, problem: null }));
        },
        onProblem: (problem) => setAnswer((now) => ({ ...now, problem })),
        onSettled() {
          clearTimeout(slowTimer);
          setAnswer((now) => (now.loading || now.problem ? { ...now, ...SETTLED } : now));
        },
      });
    };
    const openTimer = setTimeout(open, isFirst.current ? 0 : PAUSE_MS);
    isFirst.current = false;
    return () => {
      clearTimeout(slowTimer);
      clearTimeout(openTimer);
      close();
    };
  }, [clock, live, reader, recent, key, name, points, round]);

  return { ...answer, reload };
}

const SETTLED = { loading: false, slow: false, problem: null };

/** @type {Omit<SeriesAnswer, 'reload'>} */
const NOTHING_YET = { shape: emptyShape({ from: 0, to: 0 }), loading: true, slow: false, problem: null };

/**
 * The last few of many things, by name.
 *
 * @template T
 * @param {number} limit
 */
export function createRecent(limit) {
  /** @type {Map<string, T>} */
  const kept = new Map();
  return {
    /** @param {string} name @returns {T | undefined} */
    get: (name) => kept.get(name),
    /** @param {string} name @param {T} thing */
    set(name, thing) {
      // Inserted again, it is the last entry to be forgotten.
      kept.delete(name);
      kept.set(name, thing);
      for (const oldest of kept.keys()) {
        if (kept.size <= limit) return;
        kept.delete(oldest);
      }
    },
  };
}
