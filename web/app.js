import { html } from 'htm/preact';
import { useEffect, useErrorBoundary, useRef } from 'preact/hooks';
import { toProblem } from './api/problem.js';
import { Header, HeaderBar } from './components/header.js';
import { Loading } from './components/loading.js';
import { ProblemNotice } from './components/notice.js';
import { SignIn } from './components/sign-in.js';
import { routeOf } from './routes.js';
import { useObservable, useParts } from './state/hooks.js';
import { useView } from './state/use-view.js';

/** @import { Route } from './routes.js' */

/** The frame around every view, and the view that the address names. */
export function App() {
  const { router, session, live } = useParts();
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
    <main id="main" ref=${main} tabindex="-1">${isOut ? html`<${SignIn} />` : html`<${View} key=${path} path=${path} />`}</main>
  `;
}

/**
 * A view that fails says so, and leaves the way to the others open.
 *
 * @param {{ path: string }} props
 */
function View({ path }) {
  const [error, tryAgain] = useErrorBoundary((failure) => console.error(failure));
  if (error)
    return html`<${ProblemNotice} problem=${toProblem(error)} onRetry=${tryAgain} retries=${false} />`;
  return html`<${Loaded} ...${routeOf(path)} />`;
}

/** @param {Route} route */
function Loaded({ view, ...props }) {
  const Component = useView(view);
  return Component ? html`<${Component} ...${props} />` : html`<${Loading} />`;
}

/**
 * A screen reader and the Tab key begin where the new view begins, as after a page load.
 *
 * @param {{ current: HTMLElement | null }} main
 * @param {string} path or what stands there in its place
 */
function useFocusOnArrival(main, path) {
  const last = useRef(path);
  useEffect(() => {
    if (last.current === path) return;
    last.current = path;
    // Where one comes back to, the view knows better.
    if (main.current?.contains(document.activeElement)) return;
    main.current?.focus({ preventScroll: true });
  }, [main, path]);
}
