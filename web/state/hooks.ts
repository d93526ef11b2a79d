import { createContext } from 'preact';
import { useCallback, useContext, useEffect, useReducer, useRef, useState } from 'preact/hooks';
import type { Client } from '../api/client.ts';
import type { Problem } from '../api/request.ts';
import { toProblem } from '../api/request.ts';
import type { Router } from '../routes.ts';
import type { Clock } from './clock.ts';
import type { Vocabulary } from './lists.ts';
import type { Live } from './live.ts';
import type { KeptTexts, Preferences } from './preferences.ts';
import type { Session } from './session.ts';

export interface Services {
  client: Client;
  live: Live;
  session: Session;
  router: Router;
  preferences: Preferences;
  vocabulary: Vocabulary;
  clock: Clock;
  /** storage of this browser, and of this tab */
  storage: { browser: KeptTexts; tab: KeptTexts };
  /** receives the event `storage` when another tab changes the storage of the browser */
  tabs: Pick<EventTarget, 'addEventListener'>;
  /** state of features by the function that created it; see `useKept` */
  kept: Map<unknown, unknown>;
}

export const ServicesContext = createContext<Services | null>(null);

export function useServices(): Services {
  const services = useContext(ServicesContext);
  if (!services) throw new Error('a component stands outside of ServicesContext');
  return services;
}

/** State that lives as long as the page. @param create identifies it; must be the same function in all calls */
export function useKept<T>(create: (services: Services) => T): T {
  const services = useServices();
  const { kept } = services;
  if (!kept.has(create)) kept.set(create, create(services));
  return kept.get(create) as T;
}

/** Redraws the component at each change. @param subscribe must be the same function while the source stays the same */
export function useChanges(subscribe: (listener: () => void) => () => void) {
  const [, redraw] = useReducer((count: number) => count + 1, 0);
  useEffect(() => subscribe(() => redraw(undefined)), [subscribe]);
}

/** Time in ms that an element must stay on the screen to count as seen, because elements above it may still get their height. */
const SEEN_MS = 400;

/** @returns whether `px` pixels of the top of the element stayed on the screen at least once */
export function useSeen(element: { current: Element | null }, px: number, isReady: boolean): boolean {
  const [isSeen, setSeen] = useState(false);
  useEffect(() => {
    if (isSeen || !isReady || !element.current) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const observer = new IntersectionObserver(
      (entries) => {
        clearTimeout(timer);
        if (entries.at(-1)?.isIntersecting) timer = setTimeout(() => setSeen(true), SEEN_MS);
      },
      { rootMargin: `0px 0px -${px}px 0px` },
    );
    observer.observe(element.current);
    return () => {
      clearTimeout(timer);
      observer.disconnect();
    };
  }, [element, isSeen, isReady, px]);
  return isSeen;
}

/** Sets the title of the page. */
export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} · Millrace` : 'Millrace';
  }, [title]);
}

/** Pause in ms before a retry after a temporary problem. */
const RETRY_MS = 5_000;
/** Wait in ms after which an answer counts as slow. */
const SLOW_MS = 4_000;

interface Answer<T> {
  /** the last answer, which stays while the page requests a new answer */
  data: T | null;
  problem: Problem | null;
  loading: boolean;
  slow: boolean;
  reload: () => void;
}

/**
 * Drops answers for an earlier key, and retries temporary problems. If a refresh fails, the last answer stays. @param key
 * all values on which the request depends
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
  /** `repeat`: a second request must follow, because the running request may miss new data */
  const request = useRef({ running: false, repeat: false });
  const reload = useCallback(() => {
    if (request.current.running) request.current.repeat = true;
    else setRound((count) => count + 1);
  }, []);
  const asked = useRef(key);
  const answered = useRef<string | null>(null);
  const newest = useRef(ask);
  newest.current = ask;

  // Only key and round trigger a request, because `ask` is a new function at every drawing.
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

  // With a new key, the component is drawn once before the effect starts the request. This drawing counts as loading, too.
  return { ...answer, loading: answer.loading || asked.current !== key, reload };
}
