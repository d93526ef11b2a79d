import { useCallback } from 'preact/hooks';
import { readingAt, statisticsOf } from '../chart/readout.ts';
import type { Shape } from '../chart/shape.ts';
import { within } from '../chart/shape.ts';
import { formatDateTime, formatNumber, formatUnit, formatZone, NOTHING } from '../format.ts';
import { itemHref } from '../routes.ts';
import { useChanges, useServices } from '../state/hooks.ts';
import { keyOf } from '../state/live.ts';
import type { Compared } from './use-compared.ts';

export type Sensor = Compared & { hue: number; shape: Shape; ghost: Shape | null };

/** The compared sensors in figures: at the cursor, or now; and over the range. */
export function Legend({
  sensors,
  cursor,
  reach,
  range,
  onRemove,
}: {
  sensors: Sensor[];
  /** epoch ms; null: it is away */
  cursor: number | null;
  /** ms that a sample may lie away from the cursor */
  reach: number;
  range: { from: number; to: number };
  onRemove: (ref: string) => void;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const hasGhost = sensors.some(({ ghost }) => ghost !== null);
  const when = cursor === null ? 'Now' : `${formatDateTime(cursor, zone)} ${formatZone(zone, cursor)}`;
  return (
    <section class="panel" aria-label="Compared sensors">
      <section class="table-scroll" tabIndex={0} aria-label="Figures">
        <table class="plain compare-legend">
          <thead>
            <tr>
              <th scope="col">Sensor</th>
              <th scope="col" class="number">
                {when}
              </th>
              {hasGhost && (
                <th scope="col" class="number">
                  A week earlier
                </th>
              )}
              {['Lowest', 'Average', 'Highest'].map((label) => (
                <th key={label} scope="col" class="number">
                  {label}
                </th>
              ))}
              <th scope="col">
                <span class="visually-hidden">Remove</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {sensors.map((sensor) => (
              <Row key={sensor.ref} {...{ sensor, cursor, reach, range, hasGhost, onRemove }} />
            ))}
          </tbody>
        </table>
      </section>
    </section>
  );
}

function Row({
  sensor: compared,
  cursor,
  reach,
  range,
  hasGhost,
  onRemove,
}: {
  sensor: Sensor;
  cursor: number | null;
  reach: number;
  range: { from: number; to: number };
  hasGhost: boolean;
  onRemove: (ref: string) => void;
}) {
  const { ref, name, device, sensor, hue, shape, ghost } = compared;
  const { min, avg, max } = statisticsOf(within(shape, range));
  const unit = formatUnit(sensor?.unit);
  const written = (value: number | null | undefined) =>
    value === null || value === undefined ? NOTHING : `${formatNumber(value)} ${unit}`.trim();
  const newest = useNewest(sensor);
  const at = cursor === null ? newest : readingAt(shape, cursor, reach)?.avg;
  const ghostAt = ghost && readingAt(ghost, cursor ?? range.to, reach)?.avg;
  return (
    <tr>
      <th scope="row">
        <i class={`compare-swatch hue-${hue}`} aria-hidden="true" />
        {sensor ? (
          <a class="link" href={itemHref({ ...sensor, device })}>
            {name}
          </a>
        ) : (
          name
        )}{' '}
        <span class="quiet">{sensor ? device : `there is no such sensor of ${device}`}</span>
      </th>
      <td class="number">{written(at)}</td>
      {hasGhost && <td class="number">{written(ghostAt)}</td>}
      <td class="number">{written(min)}</td>
      <td class="number">{written(avg)}</td>
      <td class="number">{written(max)}</td>
      <td class="number">
        <button
          type="button"
          class="button quiet-button"
          aria-label={`Remove ${name} of ${device}`}
          onClick={() => onRemove(ref)}
        >
          Remove
        </button>
      </td>
    </tr>
  );
}

/** @returns its newest value, which is followed live */
function useNewest(sensor: Compared['sensor']): number | null {
  const { live } = useServices();
  const key = sensor ? keyOf(sensor) : '';
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  return live.sensor(key)?.item.value ?? sensor?.value ?? null;
}
