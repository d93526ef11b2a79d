/**
 * How a page is sorted; in the address `sort=name`, or `sort=-name` the other way round.
 *
 * @typedef {{ by: string, down: boolean }} Sorting
 */

const words = new Intl.Collator('en', { numeric: true });

/**
 * @param {URLSearchParams} query
 * @param {string[]} columns that can be sorted by; the first one is the usual
 * @returns {Sorting}
 */
export function sortingOf(query, columns) {
  const text = query.get('sort') ?? '';
  const down = text.startsWith('-');
  const by = down ? text.slice(1) : text;
  return columns.includes(by) ? { by, down } : { by: columns[0] ?? '', down: false };
}

/** @param {Sorting} sorting @returns {string} as the address has it */
export const sortText = ({ by, down }) => (down ? `-${by}` : by);

/**
 * @template T
 * @param {T[]} items
 * @param {(item: T) => string | number | null} keyOf
 * @param {boolean} down
 * @returns {T[]} what is not known stands last, either way
 */
export function sorted(items, keyOf, down) {
  const sign = down ? -1 : 1;
  return items.toSorted((one, other) => {
    const [a, b] = [keyOf(one), keyOf(other)];
    if (a === null || b === null) return Number(a === null) - Number(b === null);
    return sign * (typeof a === 'number' && typeof b === 'number' ? a - b : words.compare(`${a}`, `${b}`));
  });
}
