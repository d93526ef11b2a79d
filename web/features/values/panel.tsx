import { useState } from 'preact/hooks';
import type { ValuesProps } from '../../feature.ts';
import { Choice } from '../../kit/controls.tsx';
import { useServices } from '../../state/hooks.ts';
import { BinTable, SampleTable } from './tables.tsx';
import './values.css';

export { Summary } from './summary.tsx';

const SOURCES = [
  { value: 'points', label: 'Points of the chart' },
  { value: 'samples', label: 'Samples' },
];
const ORDERS = [
  { value: 'desc', label: 'Newest first' },
  { value: 'asc', label: 'Oldest first' },
] as const;

/** Renders the values of a range: the points of the chart, or the samples. */
export function Values({ sensor, window, shape, unit, samples, states, scale }: ValuesProps) {
  const { router } = useServices();
  const { query } = router.place.value;
  const [order, setOrder] = useState<'asc' | 'desc'>('desc');
  const hasPoints = shape.stepMs !== null;
  const isPoints = hasPoints && query.get('table') !== 'samples';
  const table = { order, valueScale: scale };
  return (
    <section class="panel sample-panel" aria-label="Samples">
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
      </div>
      {isPoints ? (
        <BinTable shape={shape} unit={unit} {...table} />
      ) : (
        <SampleTable sensor={sensor} window={window} scale={samples} states={states} {...table} />
      )}
    </section>
  );
}
