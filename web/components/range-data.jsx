import { useState } from 'preact/hooks';
import { useServices } from '../state/hooks.js';
import { Choice } from './controls.jsx';
import { BinTable, SampleTable } from './sample-tables.jsx';
import '../styles/tables.css';
import '../styles/sensor.css';

/** @import { StateNames } from '../states.js' */
/** @import { Scale } from '../units.js' */
/** @import { Shape } from '../chart/shape.js' */
/** @import { Thresholds } from '../state/preferences.js' */
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
 * @param {Shape} props.shape of the chart
 * @param {string} props.unit of the shape
 * @param {Scale} props.values scale of the samples
 * @param {StateNames | null} props.states the samples are states
 * @param {Thresholds} props.thresholds in the scale of the shape
 */
export function RangeData({ sensor, window, shape, unit, values, states, thresholds }) {
  const { router } = useServices();
  const { query } = router.place.value;
  const [order, setOrder] = useState(/** @type {'asc' | 'desc'} */ ('desc'));
  const hasPoints = shape.stepMs !== null;
  const isPoints = hasPoints && query.get('table') !== 'samples';
  const table = { order, thresholds };
  return (
    <section class="panel" aria-label="Samples">
      <div class="panel-head data-head">
        {hasPoints ? (
          <Choice
            legend="Table"
            options={SOURCES}
            value={isPoints ? 'points' : 'samples'}
            onChange={(/** @type {string} */ value) =>
              router.changeQuery({ table: value === 'samples' ? value : null }, { replace: true })
            }
          />
        ) : (
          <h2>Samples</h2>
        )}
        <Choice
          legend="Order"
          options={ORDERS}
          value={order}
          onChange={(/** @type {any} */ next) => setOrder(next)}
        />
        <Downloads sensor={sensor} window={window} />
      </div>
      {isPoints ? (
        <BinTable shape={shape} unit={unit} {...table} />
      ) : (
        <SampleTable sensor={sensor} window={window} scale={values} states={states} {...table} />
      )}
    </section>
  );
}

/** @param {{ sensor: { device_id: string, sensor_id: string }, window: Window }} props */
function Downloads({ sensor, window: { live, from, to } }) {
  const { client } = useServices();
  const range = { from: new Date(from).toISOString(), to: live ? null : new Date(to).toISOString() };
  /** @param {'csv' | 'ndjson'} format @param {string} label */
  const link = (format, label) => (
    <a
      class="button"
      href={client.exportHref(sensor.device_id, sensor.sensor_id, { ...range, format })}
      download
      data-native
    >
      {label}
    </a>
  );
  return (
    <p class="downloads">
      <span>Download all samples</span> {link('csv', 'CSV')} {link('ndjson', 'NDJSON')}
    </p>
  );
}
