import type { Signal } from '@preact/signals';
import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { Client } from '../api/client.ts';
import type { Problem } from '../api/request.ts';
import { toProblem } from '../api/request.ts';
import type { ImportedRow, RefusedLine } from '../api/types.ts';
import type { Router } from '../routes.ts';
import type { Clock } from './clock.ts';
import type { Vocabulary } from './lists.ts';
import type { Live } from './live.ts';
import type { Comparison, Preferences } from './preferences.ts';
import type { Session } from './session.ts';
import type { ThresholdMemory } from './thresholds.ts';

/** The progress of an import. */
export interface ImportRun {
  /** a test run, which stores nothing */
  isTest: boolean;
  /** name of the device that was typed when the run began */
  device: string;
  state: 'running' | 'done' | 'stopped';
  /** of the file, from 0 to 1 */
  share: number;
  rows: number;
  samples: number;
  refused: number;
  /** refused ones */
  lines: RefusedLine[];
  /** samples as they would be stored */
  first: ImportedRow[];
  problem: Problem | null;
}

/** The state of an import, which continues when its view is left. */
interface Importing {
  file: File | null;
  /** as typed */
  device: string;
  /** null: none since the file was chosen */
  run: ImportRun | null;
  /** ends the run */
  abort: AbortController | null;
}

/** The view of imports before its first use. */
export const NO_IMPORT: Importing = { file: null, device: '', run: null, abort: null };

/** Everything that views need, created once in app.tsx. */
interface Services {
  client: Client;
  live: Live;
  session: Session;
  router: Router;
  preferences: Preferences;
  thresholds: ThresholdMemory;
  comparison: Comparison;
  importing: Signal<Importing>;
  vocabulary: Vocabulary;
  clock: Clock;
}

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (!services) throw new Error('a component stands outside of ServicesContext');
  return services;
}

/**
 * Redraws the component on each change of the source.
 *
 * @param subscribe the same function as long as the source is the same
 */
export function useChanges(subscribe: (listener: () => void) => () => void) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => subscribe(() => redraw(undefined)), [subscribe]);
}

/**
 * @param isReady whether the element has its place: while a page loads, what is far below stands near its top
 * @returns whether so many pixels of the element's top were on the screen at least once
 */
export function useSeen(element: { current: Element | null }, px: number, isReady: boolean): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || !isReady || !element.current) return undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setSeen(true);
      },
      { rootMargin: `0px 0px -${px}px 0px` },
    );
    observer.observe(element.current);
    return () => observer.disconnect();
  }, [element, isSeen, isReady, px]);
  return isSeen;
}

/** @param title what this view shows; becomes the name of the tab and of the history entry */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} · Millrace` : 'Millrace';
  }, [title]);
}

/** Temporary problems are retried after this time. */
const RETRY_MS = 5_000;
/** A wait longer than this is reported. */
const SLOW_MS = 4_000;

interface Answer<T> {
  /** the last answer; while another one is asked for, the one before */
  data: T | null;
  problem: Problem | null;
  loading: boolean;
  slow: boolean;
  reload: () => void;
}

/**
 * Requests the API whenever `key` changes, and drops answers of an earlier key. Temporary problems are retried. With `refreshMs`
 * the answer is refreshed in the background; if that fails, the last answer stays. A reload waits for the request that runs.
 *
 * @param key everything that the question depends on
 */
export function useQuery<T>(
  key: string,
  ask: (signal: AbortSignal) => Promise<T>,
  { refreshMs }: { refreshMs?: number } = {},
): Answer<T> {
  const [answer, setAnswer] = useState({
    data: null as T | null,
    problem: null as Problem | null,
    loading: true,
    slow: false,
  });
  const [round, setRound] = useState(0);
  /** `repeat`: another one follows, since the running one may miss new data */
  const request = useRef({ running: false, repeat: false });
  const reload = useCallback(() => {
    if (request.current.running) request.current.repeat = true;
    else setRound((count) => count + 1);
  }, []);
  const asked = useRef(key);
  const answered = useRef<string | null>(null);
  const newest = useRef(ask);
  newest.current = ask;

  // The key and the round trigger a request: `ask` is a new function on every drawing.
  useEffect(() => {
    const abort = new AbortController();
    const isRefresh = answered.current === key;
    asked.current = key;
    request.current = { running: true, repeat: false };
    let nextTimer: ReturnType<typeof setTimeout> | undefined;
    let slowTimer: ReturnType<typeof setTimeout> | undefined;
    if (!isRefresh) {
      answered.current = null;
      slowTimer = setTimeout(() => setAnswer((now) => ({ ...now, slow: true })), SLOW_MS);
      setAnswer((now) => ({ ...now, loading: true, slow: false }));
    }
    void newest
      .current(abort.signal)
      .then((data) => ({ data, problem: null }))
      .catch((error) => ({ problem: toProblem(error) }))
      .then((result) => {
        clearTimeout(slowTimer);
        if (abort.signal.aborted) return;
        const { repeat } = request.current;
        request.current = { running: false, repeat: false };
        if (!result.problem) answered.current = key;
        if (!result.problem || !isRefresh) {
          setAnswer((now) => ({ ...now, ...result, loading: false, slow: false }));
        }
        if (repeat && !result.problem) return reload();
        const retryMs = result.problem?.isTemporary ? RETRY_MS : undefined;
        const nextMs = isRefresh || !result.problem ? refreshMs : retryMs;
        if (nextMs !== undefined) nextTimer = setTimeout(reload, nextMs);
      });
    return () => {
      clearTimeout(slowTimer);
      clearTimeout(nextTimer);
      abort.abort();
      request.current = { running: false, repeat: false };
    };
  }, [key, round, reload, refreshMs]);

  // A component is drawn with another key before the effect requests it.
  return { ...answer, loading: answer.loading || asked.current !== key, reload };
}
