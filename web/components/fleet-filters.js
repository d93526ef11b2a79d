import { html } from 'htm/preact';
import { useCallback } from 'preact/hooks';
import { useObservable, useParts } from '../state/hooks.js';
import { FILTERS } from '../state/use-latest-page.js';
import { FilterField } from './filter-field.js';

/** Which sensors the table shows; the address holds it. */
export function FleetFilters() {
  const { router, vocabulary } = useParts();
  const { query } = useObservable(router.place);
  const { types, sites } = useObservable(vocabulary);
  const set = {
    name: useFilter('name'),
    type: useFilter('type'),
    site: useFilter('site'),
  };
  const filtered = FILTERS.some((name) => query.has(name));

  return html`
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${FilterField}
        label="Name"
        placeholder="begins with"
        value=${query.get('name') ?? ''}
        onChange=${set.name}
      />
      <${FilterField}
        label="Type"
        placeholder="any"
        value=${query.get('type') ?? ''}
        options=${types}
        onChange=${set.type}
      />
      <${FilterField}
        label="Site"
        placeholder="any"
        value=${query.get('site') ?? ''}
        options=${sites}
        onChange=${set.site}
      />
      ${filtered && html`<a class="button quiet-button" href="/">Clear filters</a>`}
    </form>
  `;
}

/** @param {string} name @returns {(value: string) => void} another filter begins at its first page */
function useFilter(name) {
  const { router } = useParts();
  return useCallback(
    (value) => {
      if (value === (router.place.get().query.get(name) ?? '')) return;
      router.changeQuery({ [name]: value, cursor: null });
    },
    [router, name],
  );
}
