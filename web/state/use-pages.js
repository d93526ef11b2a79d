import { useObservable, useParts } from './hooks.js';

/** @import { Pager } from '../components/pager.js' */

/**
 * A walk through pages by cursor: the address has the cursor of the page shown, the browser's history entry those before it.
 *
 * @param {object} what
 * @param {string | null | undefined} what.next cursor of the page after this one; undefined: not known yet
 * @param {string} [what.top] id of what comes into sight again with another page
 * @param {(next: string | null) => Record<string, string | null>} [what.along] what else an address with that cursor needs
 * @returns {Omit<Parameters<typeof Pager>[0], 'what' | 'shown'>}
 */
export function usePages({ next, top, along }) {
  const { router } = useParts();
  const { query, trail } = useObservable(router.place);
  const cursor = query.get('cursor');

  /** @param {string | null} to @param {(string | null)[]} before cursors of the pages before it */
  const turn = (to, before) => {
    router.changeQuery({ cursor: to, ...along?.(to) }, { trail: before });
    if (top) document.getElementById(top)?.scrollIntoView({ block: 'nearest' });
  };

  return {
    isFirst: !cursor,
    number: cursor && trail.length === 0 ? null : trail.length + 1,
    onFirst: () => turn(null, []),
    onPrevious: trail.length > 0 ? () => turn(trail.at(-1) ?? null, trail.slice(0, -1)) : null,
    onNext: next ? () => turn(next, [...trail, cursor]) : null,
  };
}
