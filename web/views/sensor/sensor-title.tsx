import type { ComponentChildren } from 'preact';
import { keyOf } from '../../api/stream/index.ts';
import { decimalsFor, formatNumber, hueOf } from '../../format.ts';
import { CompareButton } from '../../kit/controls.tsx';
import { Age, TypeDot, Value } from '../../kit/figure.tsx';
import { Notice } from '../../kit/notice.tsx';
import { deviceHref } from '../../routes.ts';
import { useServices } from '../../state/hooks.ts';
import { describeCellState, NOT_LIVE, TO_BE_JUDGED } from '../../state/outliers.ts';
import { outdatedOf, useDeviation, useOfflineAt } from '../../state/sensor.ts';
import { stateText } from '../../states.ts';
import { scaleFor, toShown } from '../../units.ts';
import '../../wall/wall.css';
import type { LatestItem } from '../../api/types.ts';
import type { Outdated } from '../../state/sensor.ts';
import type { Stale } from '../../state/verdict.ts';

export function SensorTitle({
  name,
  label,
  item,
  recent,
  intervalMs,
  stale,
}: {
  name: string;
  /** label from the birth message */
  label: string | null;
  /** null: not known yet */
  item: LatestItem | null;
  recent: { ts: number; value: number }[];
  /** interval of the sensor in ms, from the birth message */
  intervalMs: number | null;
  /** the reason why no values arrive; null: values arrive */
  stale: Stale | null;
}) {
  return (
    <div class="title">
      <div>
        <h1>
          <TypeDot type={item?.type ?? null} />
          {name}
        </h1>
        {label && <p class="title-label">{label}</p>}
        <ul class="facts">
          {item && item.name === null && <li>no name yet</li>}
          <li>{item?.type ?? 'no type yet'}</li>
          {item?.site && (
            <li>
              <a href={`/?site=${encodeURIComponent(item.site)}`}>{item.site}</a>
            </li>
          )}
          {item && (
            <li>
              <CompareButton item={item} />
            </li>
          )}
        </ul>
      </div>
      {item ? (
        <Now key={keyOf(item)} item={item} recent={recent} intervalMs={intervalMs} stale={stale} />
      ) : (
        <NowBlock item={null} recent={recent} outdated={null} />
      )}
    </div>
  );
}

/** Renders the newest value, with a text if it is not current. */
function Now({
  item,
  recent,
  intervalMs,
  stale,
}: {
  item: LatestItem;
  recent: { ts: number; value: number }[];
  intervalMs: number | null;
  stale: Stale | null;
}) {
  const { clock } = useServices();
  const now = clock.time.value;
  const offlineAt = useOfflineAt(item.device_id);
  const at = Date.parse(item.ts ?? '');
  const facts = { at, intervalMs, gapMs: gapOf(recent), offlineAt, stale, now };
  const outdated = item.ts === null ? null : outdatedOf(facts);
  return (
    <NowBlock item={item} recent={recent} outdated={outdated}>
      <Baseline item={item} recent={recent} outdated={outdated} />
    </NowBlock>
  );
}

/**
 * @param recent recent values, oldest first
 * @returns median time between two values in ms, because a page that nobody sees gets no values
 */
function gapOf(recent: { ts: number }[]): number {
  const gaps = recent.slice(1).map(({ ts }, index) => ts - (recent[index]?.ts ?? ts));
  return gaps.sort((a, b) => a - b)[Math.floor(gaps.length / 2)] ?? 0;
}

const NowBlock = ({
  item,
  recent,
  outdated,
  children,
}: {
  item: LatestItem | null;
  recent: { ts: number; value: number }[];
  outdated: Outdated | null;
  children?: ComponentChildren;
}) => (
  <div class="now-block" data-stale={outdated !== null}>
    <p class={`now hue-${hueOf(item?.type ?? null)}`}>
      <Value
        value={item?.value ?? null}
        unit={item?.unit ?? null}
        ts={item?.ts ?? null}
        name={item?.name ?? null}
        type={item?.type ?? null}
        recent={recent}
      />
      <Age ts={item?.ts ?? null} intervalMs={item?.interval_ms} />
    </p>
    {children}
  </div>
);

/**
 * Renders the baseline of a sensor and the deviation of its newest value, as text and in the color of the wall cell of the
 * sensor. An old value is not judged.
 */
function Baseline({
  item,
  recent,
  outdated,
}: {
  item: LatestItem;
  recent: { ts: number; value: number }[];
  outdated: Outdated | null;
}) {
  const { preferences } = useServices();
  const { units } = preferences.choice.value;
  const judged = useDeviation(item);
  if (item.ts === null) return null;
  const isState = stateText(item, item.value) !== null;
  if ((isState || !judged) && outdated) return <OutdatedLine outdated={outdated} />;
  // States are not numbers, so they have no baseline to show.
  if (isState) return null;
  if (!judged) return <p class="baseline">Not judged yet: {TO_BE_JUDGED}</p>;
  const { mean, deviation, off, cellState } = judged;
  const text = describeCellState(cellState);
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
    <p class="baseline" title={BY_HISTORY}>
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

const OutdatedLine = ({ outdated, children }: { outdated: Outdated; children?: ComponentChildren }) => (
  <p class="baseline" data-tone={outdated.cellState === NOT_LIVE ? undefined : 'warn'}>
    <i class="swatch" data-cell-state={outdated.cellState} aria-hidden="true" />
    <span>
      <b>{outdated.text}</b>
      {children}
    </span>
  </p>
);

/**
 * Renders the page of a sensor that does not exist.
 *
 * @param props `device` and `sensor`: ids or names
 */
export const SensorMissing = ({ sensor, device }: { sensor: string; device: string }) => (
  <Notice isPage title={`There is no sensor “${sensor}” of the device “${device}”`} tone="warn">
    <p>
      The address is mistyped, or the device was retired. A sensor appears here with its first measurement.
    </p>
    <p class="notice-actions">
      <a class="button" href={deviceHref(device)}>
        To the device
      </a>
      <a class="button" href="/">
        To the fleet
      </a>
    </p>
  </Notice>
);
