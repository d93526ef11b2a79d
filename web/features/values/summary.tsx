import { useMemo } from 'preact/hooks';
import type { Details } from '../../feature.ts';
import {
  decimalsFor,
  formatCount,
  formatDateTime,
  formatNumber,
  formatStep,
  formatUnit,
  NOTHING,
} from '../../format.ts';
import { useServices } from '../../state/hooks.ts';
import { Figure } from '../shared/figure.tsx';
import type { Statistics } from '../shared/statistics.ts';
import { changesOf, sharesOf, statisticsOf } from '../shared/statistics.ts';
import './values.css';
import type { Shape } from '../../chart/shape.ts';
import type { StateNames } from '../../states.ts';

/** Renders the statistics of what the chart shows. */
export const Summary: NonNullable<Details['Summary']> = ({ shape, unit, states, isRead }) => {
  const statistics = useMemo(() => statisticsOf(shape), [shape]);
  return states ? (
    <StateFigures {...{ shape, states, isRead }} count={statistics.count} />
  ) : (
    <RangeFigures {...{ statistics, shape, isRead, unit }} />
  );
};

/** Number of newest values from which the precision of a sensor is derived. */
const TYPICAL = 100;

function RangeFigures({
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

function StateFigures({
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
