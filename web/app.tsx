import './kit/base.css';
import './kit/controls.css';
import type { ComponentType } from 'preact';
import { render } from 'preact';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { Client } from './api/client.ts';
import { Problem, toProblem } from './api/request.ts';
import { lazily, Stream, viaWorker } from './api/stream/index.ts';
import streamWorker from './api/stream/worker.ts?worker&url';
import type { Details } from './feature.ts';
import { FEATURES } from './features/index.ts';
import { Header, HeaderBar } from './kit/header.tsx';
import { IncompleteLine, Notice, ProblemNotice } from './kit/notice.tsx';
import { SignIn } from './kit/sign-in.tsx';
import { FeaturesContext } from './kit/slots.tsx';
import type { Route } from './routes.ts';
import { createRouter } from './routes.ts';
import { createClock, fetchSettingClock } from './state/clock.ts';
import type { Services } from './state/hooks.ts';
import { ServicesContext, useServices, useTitle } from './state/hooks.ts';
import { createVocabulary } from './state/lists.ts';
import { Live, useFiguresAlone } from './state/live.ts';
import { createPreferences, openStorage } from './state/preferences.ts';
import { createSession, fetchWithSession } from './state/session.ts';

function App({ views }: { views: Views }) {
  const { router, session, live } = useServices();
  const { path } = router.place.value;
  const { isOut } = session.state.value;
  const main = useRef<HTMLElement | null>(null);
  useFocusOnArrival(main, isOut ? 'sign-in' : path);
  useEffect(() => {
    if (isOut) live.stop();
  }, [isOut, live]);

  return (
    <>
      <a class="skip" href="#main" data-native>
        Skip to the content
      </a>
      {isOut ? <HeaderBar /> : <Header />}
      <main id="main" ref={main} tabIndex={-1}>
        {isOut ? <SignIn /> : <View key={path} path={path} views={views} />}
      </main>
    </>
  );
}

/** Renders a view, or its error if the view fails. The header stays, and leads to the other views. */
function View({ path, views }: { path: string; views: Views }) {
  const { router } = useServices();
  const [error, tryAgain] = useErrorBoundary((failure) => console.error(failure));
  if (error) {
    const problem = toProblem(error);
    // A reload loses nothing, because the address holds the state of the view.
    const onRetry = problem.code === GONE ? () => location.reload() : tryAgain;
    return <ProblemNotice problem={problem} onRetry={onRetry} retries={false} />;
  }
  return <Loaded {...router.routeOf(path)} views={views} />;
}

function Loaded({ view, views, ...parts }: Route & { views: Views }) {
  const Component = useView(views, view);
  // Most views have no device or sensor in their address, so both are empty by default.
  const props = { device: '', sensor: '', ...parts };
  if (!Component) return <Loading />;
  return (
    <>
      {views.isIncomplete(view) && <IncompleteLine />}
      <Component {...props} />
    </>
  );
}

function useFocusOnArrival(main: { current: HTMLElement | null }, path: string) {
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    // A view may already have restored an earlier focus, which must stay.
    if (main.current?.contains(document.activeElement)) return;
    main.current?.focus({ preventScroll: true });
  }, [main, path]);
}

/** Delay in ms before the loading message appears. Most views load faster, and an earlier message would only flicker. */
const SLOW_MS = 1000;

function Loading() {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    isSlow && (
      <p class="slow" role="status">
        Loading this view…
      </p>
    )
  );
}

/** Fetches the module of a view on first use. @throws {Error} if it cannot be loaded; the error boundary shows the error */
function useView(views: Views, name: string): ViewComponent | undefined {
  const [failure, setFailure] = useState<unknown>(null);
  const [, setLoaded] = useState(0);
  useEffect(() => {
    if (views.get(name)) return undefined;
    let wanted = true;
    views.load(name).then(
      () => wanted && setLoaded((count) => count + 1),
      (error) => wanted && setFailure(error),
    );
    return () => {
      wanted = false;
    };
  }, [views, name]);
  if (failure) throw failure;
  return views.get(name);
}

type ViewComponent = ComponentType<{ device: string; sensor: string }>;

interface ViewModule {
  load: () => Promise<ViewComponent>;
  hasDetails?: boolean | undefined;
}

const MODULES: ReadonlyMap<string, ViewModule> = new Map<string, ViewModule>([
  ['fleet', { load: () => import('./views/fleet/fleet.tsx').then(({ FleetView }) => FleetView) }],
  [
    'device',
    {
      load: () => import('./views/device/device.tsx').then(({ DeviceView }) => DeviceView),
      hasDetails: true,
    },
  ],
  [
    'sensor',
    {
      load: () => import('./views/sensor/sensor.tsx').then(({ SensorView }) => SensorView),
      hasDetails: true,
    },
  ],
  ...FEATURES.flatMap(({ name, page }): Array<[string, ViewModule]> => (page ? [[name, page]] : [])),
]);

/** Problem code: the API no longer serves a module of this page, because module names change with each version. */
const GONE = 'gone';

/** Browsers throw a TypeError for any reason. A running API answers `/healthz` with 200, and a proxy in front of a stopped one with 5xx. */
async function asProblem(error: unknown, fetch: typeof globalThis.fetch): Promise<unknown> {
  if (!(error instanceof TypeError)) return error;
  const isReachable = await fetch('/healthz').then(
    ({ status }) => status < 500,
    () => false,
  );
  if (!isReachable) return new Problem({ title: 'The API cannot be reached', code: 'unreachable' });
  return new Problem({
    title: 'A file of this view cannot be loaded',
    detail: 'The API may have another version than this page. “Try again” reloads the page.',
    code: GONE,
    status: 404,
  });
}

/** Loads each module once and separately, so that the fleet view need not wait for the chart modules. */
function createViews({ fetch }: { fetch: typeof globalThis.fetch }) {
  const loaded = new Map<string, ViewComponent>([['not-found', NotFoundView]]);
  const details: Details[] = [];
  let isComplete = true;
  let detailsLoaded: Promise<void> | null = null;

  /** Loads the details once, because a drawn view calls their hooks, whose number must not change. */
  async function loadDetails() {
    const answers = FEATURES.flatMap((feature) => (feature.details ? [feature.details()] : []));
    for (const answer of await Promise.allSettled(answers)) {
      if (answer.status === 'fulfilled') details.push(answer.value);
      else isComplete = false;
    }
  }

  /** @throws {Problem} code `unreachable`: the API does not answer; code `gone`: the API no longer serves the module */
  async function load(name: string): Promise<void> {
    const wanted = MODULES.get(name);
    if (!wanted || loaded.has(name)) return;
    try {
      if (wanted.hasDetails) detailsLoaded ??= loadDetails();
      const [view] = await Promise.all([wanted.load(), wanted.hasDetails && detailsLoaded]);
      loaded.set(name, view);
    } catch (error) {
      throw await asProblem(error, fetch);
    }
  }

  return {
    load,
    details,
    isIncomplete: (name: string) => !isComplete && MODULES.get(name)?.hasDetails === true,
    get: (name: string): ViewComponent | undefined => loaded.get(name),

    /** Loads the modules of the other views one after the other, so that the next view opens without a wait. */
    async loadOthers() {
      for (const name of MODULES.keys()) {
        // Errors are ignored here, because a click on the link loads the module again and shows the problem.
        await load(name).catch(() => {});
      }
    },
  };
}

type Views = ReturnType<typeof createViews>;

function NotFoundView() {
  const { router } = useServices();
  const { path } = router.place.value;
  useFiguresAlone();
  useTitle('Nothing here');
  return (
    <Notice isPage title="There is nothing at this address">
      <p>
        No view is called <code class="not-found-path">{path}</code>. It may be mistyped, or cut short.
      </p>
      <p class="notice-actions">
        <a class="button" href="/">
          To the fleet
        </a>
        <a class="button" href="/?show=devices">
          To the devices
        </a>
      </p>
    </Notice>
  );
}

/** Time in ms after which the modules of the other views are fetched. It begins with the first view. */
const OTHERS_AFTER_MS = 15_000;

const clock = createClock();
const ask = fetchSettingClock((...request) => fetch(...request), clock);
const views = createViews({ fetch: ask });
const session = createSession({ fetch: ask, clock, tabs: new BroadcastChannel('Millrace session') });
/** The ways to share one event stream among all tabs, the best first. Locks exist only in secure contexts. */
const ways = [
  ...('SharedWorker' in globalThis ? [viaWorker(streamWorker)] : []),
  ...('locks' in navigator
    ? [
        lazily(async () => {
          const { viaLeader } = await import('./api/stream/fallback.ts');
          return viaLeader({ EventSource, locks: navigator.locks, name: `Millrace ${streamWorker}` });
        }),
      ]
    : []),
  lazily(async () => (await import('./api/stream/fallback.ts')).alone(EventSource)),
];
const localStore = openStorage(() => localStorage);
const services: Services = {
  client: new Client({ fetch: fetchWithSession(ask, session) }),
  session,
  live: new Live({
    openStream: (listeners) =>
      new Stream({
        ways,
        page: window,
        events: FEATURES.flatMap(({ events = [] }) => events),
        onRefused: session.refresh,
        ...listeners,
      }),
    requestFrame: (run) => requestAnimationFrame(run),
    isHidden: () => document.hidden,
    judge: FEATURES.find(({ judgment }) => judgment)?.judgment?.judge,
  }),
  router: createRouter({ window, pages: FEATURES.flatMap(({ name, page }) => (page ? [name] : [])) }),
  preferences: createPreferences({ storage: localStore, root: document.documentElement, tabs: window }),
  vocabulary: createVocabulary(),
  clock,
  storage: { browser: localStore, tab: openStorage(() => sessionStorage) },
  tabs: window,
  kept: new Map(),
};
const loadedFeatures = { features: FEATURES, details: views.details };

function start() {
  const root = document.getElementById('app');
  if (root)
    render(
      <ServicesContext.Provider value={services}>
        <FeaturesContext.Provider value={loadedFeatures}>
          <App views={views} />
        </FeaturesContext.Provider>
      </ServicesContext.Provider>,
      root,
    );
  setTimeout(() => views.loadOthers(), OTHERS_AFTER_MS);
}

const { view: firstView } = services.router.routeOf(location.pathname);

// An await at the top level would never end: the view module imports this module, so each module would wait for the other. A
// view that cannot be loaded is shown as a problem.
void Promise.all([views.load(firstView).catch(() => {}), session.refresh()]).then(start);
