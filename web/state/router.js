import { createObservable } from './observable.js';

/**
 * @typedef {object} Place the current address of the dashboard, and `pageCursors`, `flash` and `opened`
 * @property {string} path
 * @property {URLSearchParams} query
 * @property {(string | null)[]} pageCursors cursors of the pages before this one; kept by the browser's history entry
 * @property {string | null} flash message about the last action, shown on arrival; kept there, too
 * @property {string | null} opened what was opened from here by keyboard, where one came back to it: there the focus belongs; kept there, too
 */

/**
 * The address is the state: reload, back and sharing work by themselves.
 *
 * @param {{ window: Window }} deps
 */
export function createRouter({ window }) {
  const place = createObservable(/** @type {Place} */ ({ ...read(), opened: null }));

  /** @returns {Place} */
  function read() {
    const { pathname, search } = window.location;
    return {
      path: pathname,
      query: new URLSearchParams(search),
      pageCursors: window.history.state?.pageCursors ?? [],
      flash: window.history.state?.flash ?? null,
      opened: window.history.state?.opened ?? null,
    };
  }

  /** @param {string} href @param {{ replace?: boolean, pageCursors?: (string | null)[], flash?: string }} [how] */
  function go(href, { replace = false, pageCursors = [], flash } = {}) {
    window.history[replace ? 'replaceState' : 'pushState']({ pageCursors, flash }, '', href);
    place.set(read());
  }

  window.addEventListener('popstate', () => place.set(read()));
  window.document.addEventListener('click', (event) => {
    const link = ownLink(event, window.location.origin);
    if (!link) return;
    event.preventDefault();
    go(link.pathname + link.search);
    window.scrollTo(0, 0);
  });

  return {
    place,
    go,
    /**
     * Goes where the focus has to come back from.
     *
     * @param {string} href
     * @param {string} opened what is found again by this
     */
    open(href, opened) {
      window.history.replaceState({ ...window.history.state, opened }, '');
      go(href);
    },
    /**
     * @param {Record<string, string | null>} changes null or empty takes a parameter away
     * @param {{ replace?: boolean, pageCursors?: (string | null)[] }} [how]
     */
    changeQuery: (changes, how) => go(withQuery(place.get(), changes), how),
  };
}

/** @typedef {ReturnType<typeof createRouter>} Router */

/**
 * @param {Pick<Place, 'path' | 'query'>} place
 * @param {Record<string, string | null>} changes
 * @returns {string} the same path with another query
 */
export function withQuery({ path, query }, changes) {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next.size > 0 ? `${path}?${next}` : path;
}

/** @param {MouseEvent} event @param {string} origin @returns {HTMLAnchorElement | null} a link that we follow ourselves */
function ownLink(event, origin) {
  const modified = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (modified || event.defaultPrevented || !(event.target instanceof Element)) return null;
  const link = event.target.closest('a');
  const ours = link?.origin === origin && !link.target && link.dataset['native'] === undefined;
  return ours ? link : null;
}
