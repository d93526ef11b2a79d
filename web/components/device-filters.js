import { html } from 'htm/preact';
import { useCallback } from 'preact/hooks';
import { formatCount } from '../format.js';
import { useObservable, useParts } from '../state/hooks.js';
import { DEVICE_FILTERS } from '../state/use-device-page.js';
import { Choice } from './choice.js';
import { FilterField } from './filter-field.js';

/** @import { FleetInfo } from '../api/types.js' */

/**
 * Which devices the table shows; the address holds it.
 *
 * @param {{ fleet: FleetInfo | null }} props the API's count
 */
export function DeviceFilters({ fleet }) {
  const { router, vocabulary } = useParts();
  const { query } = useObservable(router.place);
  const { sites } = useObservable(vocabulary);
  const set = useCallback(
    (/** @type {string} */ name, /** @type {string} */ value) => {
      if (value === (router.place.get().query.get(name) ?? '')) return;
      router.changeQuery({ [name]: value, cursor: null });
    },
    [router],
  );
  const setName = useCallback((/** @type {string} */ value) => set('name', value), [set]);
  const setSite = useCallback((/** @type {string} */ value) => set('site', value), [set]);
  // What is counted is the whole fleet.
  const counts = query.has('site') || query.has('name') ? undefined : fleet?.devices;
  const label = (/** @type {string} */ word, /** @type {number | undefined} */ count) =>
    count === undefined ? word : `${word} ${formatCount(count)}`;

  return html`
    <form class="filters" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${Choice}
        legend="State"
        options=${[
          { value: '', label: 'All' },
          { value: 'online', label: label('Online', counts?.online) },
          { value: 'offline', label: label('Offline', counts?.offline) },
        ]}
        value=${query.get('state') ?? ''}
        onChange=${(/** @type {string} */ value) => set('state', value)}
      />
      <${FilterField}
        label="Name"
        placeholder="begins with"
        value=${query.get('name') ?? ''}
        onChange=${setName}
      />
      <${FilterField}
        label="Site"
        placeholder="any"
        value=${query.get('site') ?? ''}
        options=${sites}
        onChange=${setSite}
      />
      ${
        DEVICE_FILTERS.some((name) => query.has(name)) &&
        html`<a class="button quiet-button" href="/?show=devices">Clear filters</a>`
      }
    </form>
  `;
}
