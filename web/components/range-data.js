import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { useObservable, useServices } from '../state/hooks.js';
import { Choice } from './choice.js';
import { BinTable, SampleTable } from './sample-tables.js';

/** @import { Shape } from '../chart/shape.js' */
/** @import { Thresholds } from '../state/thresholds.js' */
/** @import { Window } from '../chart/window.js' */

const SOURCES = [
  { value: 'points', label: 'Points of the chart' },
  { value: 'samples', label: 'Samples' },
];
const ORDERS = [
  { value: 'desc', label: 'Newest first' },
  { value: 'asc', label: 'Oldest first' },
];

/**
 * The range in figures: what the chart draws, or the samples themselves; and the samples as a file.
 *
 * @param {object} props
 * @param {{ device_id: string, sensor_id: string }} props.sensor
 * @param {Window} props.window
 * @param {Shape} props.shape
 * @param {string | null} props.unit
 * @param {Thresholds} props.thresholds
 */
export function RangeData({ sensor, window, shape, unit, thresholds }) {
  const { router } = useServices();
  const { query } = useObservable(router.place);
  const [order, setOrder] = useState(/** @type {'asc' | 'desc'} */ ('desc'));
  const hasPoints = shape.stepMs !== null;
  const isPoints = hasPoints && query.get('table') !== 'samples';
  const table = { order, unit, thresholds };
  return html`
    <section class="panel" aria-label="Samples">
      <div class="panel-head data-head">
        ${
          hasPoints
            ? html`<${Choice}
              legend="Table"
              options=${SOURCES}
              value=${isPoints ? 'points' : 'samples'}
              onChange=${(/** @type {string} */ value) =>
                router.changeQuery({ table: value === 'samples' ? value : null }, { replace: true })}
            />`
            : html`<h2>Samples</h2>`
        }
        <${Choice} legend="Order" options=${ORDERS} value=${order} onChange=${setOrder} />
        <${Downloads} sensor=${sensor} window=${window} />
      </div>
      ${
        isPoints
          ? html`<${BinTable} shape=${shape} ...${table} />`
          : html`<${SampleTable} sensor=${sensor} window=${window} ...${table} />`
      }
    </section>
  `;
}

/** @param {{ sensor: { device_id: string, sensor_id: string }, window: Window }} props */
function Downloads({ sensor, window: { live, from, to } }) {
  const { client } = useServices();
  const range = { from: new Date(from).toISOString(), to: live ? null : new Date(to).toISOString() };
  /** @param {'csv' | 'ndjson'} format @param {string} label */
  const link = (format, label) => html`
    <a class="button" href=${client.exportHref(sensor.device_id, sensor.sensor_id, { ...range, format })} download data-native>
      ${label}
    </a>
  `;
  return html`
    <p class="downloads"><span>Download all samples</span> ${link('csv', 'CSV')} ${link('ndjson', 'NDJSON')}</p>
  `;
}
