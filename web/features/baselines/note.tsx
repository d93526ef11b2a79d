import type { LatestItem } from '../../api/types.ts';
import type { ValueNoteProps } from '../../feature.ts';
import { decimalsFor, formatNumber } from '../../format.ts';
import { OutdatedLine } from '../../kit/notice.tsx';
import { useQuery, useServices } from '../../state/hooks.ts';
import { stateText } from '../../states.ts';
import { scaleFor, toShown } from '../../units.ts';
import type { BaselineHour } from './api.ts';
import { readBaseline } from './api.ts';
import { describeLevel, levelOf, NORMAL, TO_BE_JUDGED } from './deviation.ts';
import './baselines.css';

const REFRESH = { refreshMs: 10_000 };

/**
 * Renders the baseline of a sensor and the deviation of its newest value, as text and in the color of the wall cell of the
 * sensor. An old value is not judged.
 */
export function ValueNote({ item, recent, outdated }: ValueNoteProps) {
  const { preferences } = useServices();
  const { units } = preferences.choice.value;
  const judged = useDeviation(item);
  if (item.ts === null) return null;
  const isState = stateText(item, item.value) !== null;
  if ((isState || !judged) && outdated) return <OutdatedLine outdated={outdated} />;
  // States are not numbers, so they have no baseline to show.
  if (isState) return null;
  if (!judged) return <p class="value-note">Not judged yet: {TO_BE_JUDGED}</p>;
  const { mean, deviation, off, cellState } = judged;
  const text = describeLevel(cellState);
  const values = recent.map(({ value }) => value);
  const scale = scaleFor(item.unit, [...values, mean], units);
  const decimals = decimalsFor(values.map((value) => toShown(scale, value)));
  const written = (value: number) => formatNumber(value, decimals);
  // The deviation of a constant value rounds to zero, and is not shown.
  const shownDeviation = deviation * scale.factor;
  const around = Number(shownDeviation.toFixed(decimals)) > 0 ? ` ± ${written(shownDeviation)}` : '';
  const range = (
    <span class="baseline-range">
      {written(toShown(scale, mean))}
      {around} {scale.unit}
    </span>
  );
  if (outdated) return <OutdatedLine outdated={outdated}>. Usual was {range}</OutdatedLine>;
  return (
    <p class="value-note" title={BY_HISTORY}>
      <i class="swatch" data-cell-state={cellState} aria-hidden="true" />
      <span>
        {text === AS_USUAL ? (
          <>
            {text}: {range}
          </>
        ) : (
          <>
            <b>{text}</b> {range}, by {written(Math.abs(off * scale.factor))}
          </>
        )}
      </span>
    </p>
  );
}

const AS_USUAL = 'As usual';
const BY_HISTORY =
  'What this sensor usually measures at this hour of the week, by the history of four weeks: what its cell on the wall is colored by';

const HOUR_MS = 3_600_000;

/** The deviation of the newest value of a sensor from its baseline. */
interface Deviation {
  mean: number;
  /** standard deviation of the baseline, in the unit of the sensor */
  deviation: number;
  /** newest value minus mean; negative: the value is below the mean */
  off: number;
  /** state of the cell of the sensor on the wall */
  cellState: number;
}

/**
 * Returns the deviation of the newest value of a sensor, as the server judges the value. The server learns baselines once a
 * day.
 *
 * @returns null: the value is not judged, or the baseline is unknown yet
 */
export function useDeviation(item: LatestItem): Deviation | null {
  const { client } = useServices();
  const { device_id: device, sensor_id: sensor } = item;
  const { data } = useQuery(
    `baseline ${device}/${sensor}`,
    (signal) => readBaseline(client, device, sensor, signal),
    REFRESH,
  );
  return data && deviationOf(item, data.hours);
}

/** Finds the deviation of a value by the baseline of its hour. @returns null: the hour of the value has no baseline */
export function deviationOf(
  { ts, value }: Pick<LatestItem, 'ts' | 'value'>,
  hours: readonly BaselineHour[],
): Deviation | null {
  if (ts === null || value === null) return null;
  const at = Date.parse(ts);
  const hour = hours.find(({ ts: start }) => Date.parse(start) === at - (at % HOUR_MS));
  if (!hour) return null;
  const off = value - hour.mean;
  // A sensor that was always constant has the standard deviation 0, so any other value has an infinite deviation.
  const sigmas = off === 0 ? 0 : off / hour.deviation;
  const { mean, deviation } = hour;
  return { mean, deviation, off, cellState: NORMAL + levelOf(sigmas) };
}
