import { useMemo, useState } from 'preact/hooks';
import type { Statistics } from '../../chart/readout.ts';
import {
  decimalsFor,
  formatCount,
  formatDateTime,
  formatNumber,
  formatStep,
  formatUnit,
  NOTHING,
} from '../../format.ts';
import { Choice } from '../../kit/controls.tsx';
import { Figure } from '../../kit/figure.tsx';
import { useServices } from '../../state/hooks.ts';
import { changesOf, sharesOf } from '../../states.ts';
import { BinTable, SampleTable } from './sample-tables.tsx';
import '../../kit/tables.css';
import './sensor.css';
import type { Shape } from '../../chart/shape.ts';
import type { Window } from '../../chart/window.ts';
import type { StateNames } from '../../states.ts';
import type { Scale } from '../../units.ts';

const SOURCES = [
  { value: 'points', label: 'Points of the chart' },
  { value: 'samples', label: 'Samples' },
];
const ORDERS = [
  { value: 'desc', label: 'Newest first' },
  { value: 'asc', label: 'Oldest first' },
] as const;

export function RangeData({
  sensor,
  window,
  shape,
  unit,
  values,
  states,
  valueScale,
}: {
  sensor: { device_id: string; sensor_id: string };
  window: Window;
  shape: Shape;
  unit: string;
  values: Scale;
  /** state names; null: the samples are numbers */
  states: StateNames | null;
  /** scale of the shape; null: states or rates */
  valueScale: Scale | null;
}) {
  const { router } = useServices();
  const { query } = router.place.value;
  const [order, setOrder] = useState<'asc' | 'desc'>('desc');
  const hasPoints = shape.stepMs !== null;
  const isPoints = hasPoints && query.get('table') !== 'samples';
  const table = { order, valueScale };
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
        <SampleTable sensor={sensor} window={window} scale={values} states={states} {...table} />
      )}
    </section>
  );
}

/** Number of newest values from which the precision of a sensor is derived. */
const TYPICAL = 100;

export function RangeFigures({
  statistics,
  shape,
  isRead,
  unit,
}: {
  statistics: Statistics;
  isRead: boolean;
  shape: Shape;
  unit: string | null;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const { count, min, max, avg, minAt, maxAt } = statistics;
  const decimals = min === null || max === null ? 0 : decimalsFor([min, max, ...shape.max.slice(-TYPICAL)]);
  const written = formatUnit(unit);
  const at = (ts: number | null) => {
    if (ts === null) return '';
    const time = <time>{formatDateTime(ts, zone)}</time>;
    // The time of a minimum or maximum within a bin is not exact, so the text names the bin.
    return (
      <span class="figure-note">
        {shape.stepMs === null ? 'at ' : `in the ${formatStep(shape.stepMs)} from `}
        {time}
      </span>
    );
  };
  return (
    <dl class="figures range-figures" aria-label="Statistics of what is shown">
      <Figure label="Lowest" value={formatNumber(min, decimals)} unit={written}>
        {at(minAt)}
      </Figure>
      <Figure label="Average" value={formatNumber(avg, Math.max(decimals, 1))} unit={written} />
      <Figure label="Highest" value={formatNumber(max, decimals)} unit={written}>
        {at(maxAt)}
      </Figure>
      <Figure label="Samples" value={isRead ? formatCount(count) : NOTHING} />
    </dl>
  );
}

export function StateFigures({
  shape,
  states,
  isRead,
  count,
}: {
  shape: Shape;
  states: StateNames;
  isRead: boolean;
  count: number;
}) {
  const shares = useMemo(() => sharesOf(shape), [shape]);
  const isRaw = shape.stepMs === null;
  return (
    <dl class="figures range-figures" aria-label="Statistics of what is shown">
      {shares.map(({ value, share }) => (
        <Figure
          key={value}
          label={`Samples ${states(value)}`}
          value={formatNumber(Math.round(share * 1000) / 10)}
          unit="%"
        />
      ))}
      {isRaw && <Figure label="Changes" value={isRead ? formatCount(changesOf(shape.min)) : NOTHING} />}
      <Figure label="Samples" value={isRead ? formatCount(count) : NOTHING} />
    </dl>
  );
}
