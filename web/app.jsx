import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { Problem, toProblem } from './api/request.js';
import { Header, HeaderBar } from './components/header.jsx';
import { ProblemNotice } from './components/notice.jsx';
import { SignIn } from './components/sign-in.jsx';
import { routeOf } from './routes.js';
import { useServices } from './state/hooks.js';

/** @import { Route } from './routes.js' */

/**
 * The frame around every view, and the view that the address names.
 *
 * @param {{ views: Views }} props
 */
export function App({ views }) {
  const { router, session, live } = useServices();
  const { path } = router.place.value;
  const { isOut } = session.state.value;
  const main = useRef(/** @type {HTMLElement | null} */ (null));
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

/**
 * A view that fails shows its error. The header still leads to the other views.
 *
 * @param {{ path: string, views: Views }} props
 */
function View({ path, views }) {
  const [error, tryAgain] = useErrorBoundary((failure) => console.error(failure));
  if (error) return <ProblemNotice problem={toProblem(error)} onRetry={tryAgain} retries={false} />;
  return <Loaded {...routeOf(path)} views={views} />;
}

/** @param {Route & { views: Views }} props */
function Loaded({ view, views, ...props }) {
  const Component = useView(views, view);
  return Component ? <Component {...props} /> : <Loading />;
}

/**
 * Moves the focus to a new view, as after a page load, so that screen readers and the Tab key start there.
 *
 * @param {{ current: HTMLElement | null }} main
 * @param {string} path of the view, or `sign-in`
 */
function useFocusOnArrival(main, path) {
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    // A view may restore an earlier focus by itself.
    if (main.current?.contains(document.activeElement)) return;
    main.current?.focus({ preventScroll: true });
  }, [main, path]);
}

/** Most views load faster than this, in ms. An earlier message would only flicker. */
const SLOW_MS = 1000;

/** A placeholder while the modules of a view load. */
function Loading() {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    isSlow && (
      <p class="slow" role="status">
        Loading this view …
      </p>
    )
  );
}

/**
 * The component of a view. It is fetched on first use.
 *
 * @param {Views} views
 * @param {ViewName} name
 * @returns {any} undefined while it is fetched
 * @throws {Error} when it cannot be fetched; the error boundary shows it
 */
function useView(views, name) {
  const [failure, setFailure] = useState(/** @type {unknown} */ (null));
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

/**
 * The module of each view, fetched when it is first shown. The page of a view preloads its modules: api/http/dashboard.js has the same
 * list for the server, and a test compares the two.
 *
 * @type {Record<Route['view'], () => Promise<any>>}
 */
const MODULES = {
  fleet: () => import('./views/fleet.jsx').then(({ FleetView }) => FleetView),
  device: () => import('./views/device.jsx').then(({ DeviceView }) => DeviceView),
  sensor: () => import('./views/sensor.jsx').then(({ SensorView }) => SensorView),
  compare: () => import('./views/compare.jsx').then(({ CompareView }) => CompareView),
  changes: () => import('./views/changes.jsx').then(({ ChangesView }) => ChangesView),
  pipeline: () => import('./views/pipeline.jsx').then(({ PipelineView }) => PipelineView),
  'dead-letters': () => import('./views/dead-letters.jsx').then(({ DeadLettersView }) => DeadLettersView),
  import: () => import('./views/import.jsx').then(({ ImportView }) => ImportView),
  alarms: () => import('./views/alarms.jsx').then(({ AlarmsView }) => AlarmsView),
  credentials: () => import('./views/credentials.jsx').then(({ CredentialsView }) => CredentialsView),
  'not-found': () => import('./views/not-found.jsx').then(({ NotFoundView }) => NotFoundView),
};

/** @typedef {Route['view']} ViewName */

/** Browsers throw a TypeError when a module cannot be fetched. @param {unknown} error @returns {unknown} */
const asProblem = (error) =>
  error instanceof TypeError
    ? new Problem({ title: 'The API cannot be reached', code: 'unreachable' })
    : error;

/** The views, each fetched once: the fleet does not wait for the modules of the charts. */
export function createViews() {
  /** @type {Map<ViewName, any>} */
  const loaded = new Map();

  /** @param {ViewName} name @returns {Promise<void>} @throws {Problem} `unreachable` */
  async function load(name) {
    if (loaded.has(name)) return;
    try {
      loaded.set(name, await MODULES[name]());
    } catch (error) {
      throw asProblem(error);
    }
  }

  return {
    load,
    /** @param {ViewName} name @returns {any} its component; undefined until it is loaded */
    get: (name) => loaded.get(name),

    /** Fetches the other views one after the other, so that the next click finds its view. */
    async loadOthers() {
      for (const name of /** @type {ViewName[]} */ (Object.keys(MODULES))) {
        // Nobody waits for it. A click on its link loads it again, and shows the problem.
        await load(name).catch(() => {});
      }
    },
  };
}

/** @typedef {ReturnType<typeof createViews>} Views */
