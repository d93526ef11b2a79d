import { html } from 'htm/preact';
import { useEffect, useErrorBoundary, useRef, useState } from 'preact/hooks';
import { toProblem } from './api/problem.js';
import { Header, HeaderBar } from './components/header.js';
import { ProblemNotice } from './components/notice.js';
import { SignIn } from './components/sign-in.js';
import { routeOf } from './routes.js';
import { useObservable, useServices } from './state/hooks.js';

/** @import { Route } from './routes.js' */
/** @import { ViewName, Views } from './views/load.js' */

/**
 * The frame around every view, and the view that the address names.
 *
 * @param {{ views: Views }} props
 */
export function App({ views }) {
  const { router, session, live } = useServices();
  const { path } = useObservable(router.place);
  const { isOut } = useObservable(session.state);
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  useFocusOnArrival(main, isOut ? 'sign-in' : path);
  useEffect(() => {
    if (isOut) live.stop();
  }, [isOut, live]);

  return html`
    <a class="skip" href="#main" data-native>Skip to the content</a>
    ${isOut ? html`<${HeaderBar} />` : html`<${Header} />`}
    <main id="main" ref=${main} tabindex="-1">${isOut ? html`<${SignIn} />` : html`<${View} key=${path} path=${path} views=${views} />`}</main>
  `;
}

/**
 * A view that fails shows its error. The header still leads to the other views.
 *
 * @param {{ path: string, views: Views }} props
 */
function View({ path, views }) {
  const [error, tryAgain] = useErrorBoundary((failure) => console.error(failure));
  if (error)
    return html`<${ProblemNotice} problem=${toProblem(error)} onRetry=${tryAgain} retries=${false} />`;
  return html`<${Loaded} ...${routeOf(path)} views=${views} />`;
}

/** @param {Route & { views: Views }} props */
function Loaded({ view, views, ...props }) {
  const Component = useView(views, view);
  return Component ? html`<${Component} ...${props} />` : html`<${Loading} />`;
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
  return isSlow && html`<p class="slow" role="status">Loading this view …</p>`;
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
