import { html } from 'htm/preact';
import { useCallback } from 'preact/hooks';
import { formatCount } from '../format.js';
import { isMany } from '../state/device.js';
import { useObservable, useServices } from '../state/hooks.js';
import { withQuery } from '../state/router.js';
import { useTails } from '../state/sensor.js';
import { FilterField } from './list-controls.js';
import { Notice } from './notice.js';
import { SensorTable } from './sensor-table.js';

/** @import { LatestItem } from '../api/types.js' */

/** Sensors whose last values are asked for at once: the charts above have the other connections. */
const AT_ONCE = 1;

/**
 * The sensors of a device with their newest values.
 *
 * @param {object} props
 * @param {string} props.name of the device
 * @param {LatestItem[]} props.shown
 */
export function DeviceSensors({ name, shown }) {
  useTails(shown, AT_ONCE);
  return html`
  <section class="panel" aria-label="Sensors">
    ${
      shown.length === 0
        ? html`<${Notice} title="No sensor matches"><p>Looked for is any part of a name or a type.</p><//>`
        : html`<${SensorTable} caption=${`Sensors of ${name}`} items=${shown} ofDevice />`
    }
  </section>
`;
}

/** A device without sensors: what is missing, and how it comes. */
export const NoSensors = () => html`
  <section class="panel" aria-label="Sensors">
    <${Notice} title="This device has no sensors yet">
      <p>It is known by its birth or its status. Its sensors appear here by themselves, with its first measurement.</p>
    <//>
  </section>
`;

/**
 * A search among many sensors of a device. The address keeps it.
 *
 * @param {{ all: number, found: number, shown: number, more: string | null }} props numbers of sensors
 */
export function SensorChoice({ all, found, shown, more }) {
  const { router } = useServices();
  const place = useObservable(router.place);
  const find = place.query.get('find') ?? '';
  const change = useCallback(
    (/** @type {string} */ value) => router.changeQuery({ find: value, shown: null }, { replace: true }),
    [router],
  );
  if (!isMany(all)) return null;
  return html`
    <form class="sensor-choice" role="search" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <${FilterField} label="Sensors" placeholder="name or type" value=${find} onChange=${change} />
      <p class="panel-note" role="status">
        ${found === 0 ? 'None matches' : `${formatCount(shown)} of ${formatCount(found)}`}
      </p>
      ${more && html`<a class="button" href=${withQuery(place, { shown: more })}>Show more</a>`}
    </form>
  `;
}
