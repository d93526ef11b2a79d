import { html } from 'htm/preact';
import { useParts } from '../state/hooks.js';
import { sortText } from '../state/sorting.js';

/** @import { Sorting } from '../state/sorting.js' */

/**
 * A column's head that sorts the page shown: once up, once more down. The address keeps it.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.by as in the address
 * @param {Sorting} props.sorting
 * @param {string} [props.class]
 */
export function SortHeader({ label, by, sorting, class: name }) {
  const { router } = useParts();
  const isSorted = sorting.by === by;
  const next = sortText({ by, down: isSorted && !sorting.down });
  const sort = () => router.changeQuery({ sort: next }, { replace: true, trail: router.place.get().trail });
  return html`
    <th scope="col" class=${name} aria-sort=${isSorted ? (sorting.down ? 'descending' : 'ascending') : undefined}>
      <button type="button" class="sort" title="Sort this page" onClick=${sort}>
        ${label}<svg class="sort-mark" viewBox="0 0 8 8" aria-hidden="true"><path d=${sorting.down ? 'M1 2.5 4 6 7 2.5' : 'M1 5.5 4 2 7 5.5'} /></svg>
      </button>
    </th>
  `;
}
