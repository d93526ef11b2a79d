import { useState } from 'preact/hooks';
import { useServices } from '../state/hooks.ts';
import { Choice } from './controls.tsx';
import { BinTable, SampleTable } from './sample-tables.tsx';
import '../styles/tables.css';
import '../styles/sensor.css';
import type { Shape } from '../chart/shape.ts';
import type { Window } from '../chart/window.ts';
import type { Thresholds } from '../state/preferences.ts';
import type { StateNames } from '../states.ts';
import type { Scale } from '../units.ts';

const SOURCES = [
  { value: 'points', label: 'Points of the chart' },
  { value: 'samples', label: 'Samples' },
];
const ORDERS = [
  { value: 'desc', label: 'Newest first' },
  { value: 'asc', label: 'Oldest first' },
] as const;

/** The range in figures: what the chart draws, or the samples themselves; and the samples as a file. */
export function RangeData({
  sensor,
  window,
  shape,
  unit,
  values,
  states,
  thresholds,
}: {
  sensor: { device_id: string; sensor_id: string };
  window: Window;
  /** of the chart */
  shape: Shape;
  /** of the shape */
  unit: string;
  /** scale of the samples */
  values: Scale;
  /** the samples are states */
  states: StateNames | null;
  /** in the scale of the shape */
  thresholds: Thresholds;
}) {
  const { router } = useServices();
  const { query } = router.place.value;
  const [order, setOrder] = useState<'asc' | 'desc'>('desc');
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
            onChange={(value: string) =>
              router.changeQuery({ table: value === 'samples' ? value : null }, { replace: true })
            }
          />
        ) : (
          <h2>Samples</h2>
        )}
        <Choice legend="Order" options={ORDERS} value={order} onChange={(next) => setOrder(next)} />
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

function Downloads({
  sensor,
  window: { live, from, to },
}: {
  sensor: { device_id: string; sensor_id: string };
  window: Window;
}) {
  const { client } = useServices();
  const range = { from: new Date(from).toISOString(), to: live ? null : new Date(to).toISOString() };
  const link = (format: 'csv' | 'ndjson', label: string) => (
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
