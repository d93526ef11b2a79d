import { html } from 'htm/preact';
import { useEffect, useId, useState } from 'preact/hooks';
import { useObservable, useServices } from '../state/hooks.js';
import { sortText } from '../state/lists.js';

/** @import { Sorting } from '../state/lists.js' */

/** Switches the list of the fleet between sensors and devices. A chosen site stays. */
export function ListSwitch() {
  const { router } = useServices();
  const { query } = useObservable(router.place);
  const site = query.get('site');
  const ofSite = site ? `site=${encodeURIComponent(site)}` : '';
  const shown = query.get('show') === 'devices' ? 'devices' : 'sensors';
  const lists = [
    { name: 'sensors', label: 'Sensors', href: ofSite ? `/?${ofSite}` : '/' },
    { name: 'devices', label: 'Devices', href: `/?show=devices${ofSite && `&${ofSite}`}` },
  ];
  return html`
    <nav class="list-switch" aria-label="What is listed">
      ${lists.map(
        ({ name, label, href }) =>
          html`<a key=${name} href=${href} aria-current=${name === shown ? 'true' : undefined}>${label}</a>`,
      )}
    </nav>
  `;
}

/** A pause in typing after which a text counts as meant. */
const PAUSE_MS = 300;

/**
 * A text to filter by. With `options` it is meant when it is one of them, or when the field is left or Enter is pressed:
 * half a type finds nothing. Without, every pause in typing counts.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.placeholder
 * @param {string} props.value
 * @param {string[]} [props.options]
 * @param {(value: string) => void} props.onChange
 */
export function FilterField({ label, placeholder, value, options, onChange }) {
  const id = useId();
  const [text, setText] = useState(value);
  // The address changed by other means: back, a link, "clear filters".
  useEffect(() => setText(value), [value]);

  useEffect(() => {
    if (options || text === value) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text, value, options, onChange]);

  /** @param {string} next */
  const type = (next) => {
    setText(next);
    if (next === '' || options?.includes(next)) onChange(next);
  };

  return html`
    <div class="field" data-set=${value !== ''}>
      <label for=${id}>${label}</label>
      <input
        id=${id}
        type="search"
        autocomplete="off"
        spellcheck=${false}
        list=${options ? `${id}-options` : undefined}
        placeholder=${placeholder}
        value=${text}
        onInput=${(/** @type {any} */ event) => type(event.target.value)}
        onChange=${() => onChange(text.trim())}
      />
      ${
        options &&
        html`<datalist id=${`${id}-options`}>${options.map((option) => html`<option value=${option} />`)}</datalist>`
      }
    </div>
  `;
}

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
  const { router } = useServices();
  const isSorted = sorting.by === by;
  const next = sortText({ by, down: isSorted && !sorting.down });
  const sort = () =>
    router.changeQuery({ sort: next }, { replace: true, pageCursors: router.place.get().pageCursors });
  return html`
    <th scope="col" class=${name} aria-sort=${isSorted ? (sorting.down ? 'descending' : 'ascending') : undefined}>
      <button type="button" class="sort" title="Sort this page" onClick=${sort}>
        ${label}<svg class="sort-mark" viewBox="0 0 8 8" aria-hidden="true"><path d=${sorting.down ? 'M1 2.5 4 6 7 2.5' : 'M1 5.5 4 2 7 5.5'} /></svg>
      </button>
    </th>
  `;
}
