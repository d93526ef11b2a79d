import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { keyOf } from '../../api/stream/index.ts';
import type { FleetInfo } from '../../api/types.ts';
import type { Grouping } from '../../feature.ts';
import { formatAge, formatCount, formatCounted } from '../../format.ts';
import { deviceHref, sensorHref, withQuery } from '../../routes.ts';
import { MOST_SENSORS } from '../../state/fleet.ts';
import { deviceCount } from '../../state/fleet-state.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import { sensorValueText } from '../../units.ts';
import type { OutlierGroup, OutlierItem } from './api.ts';
import { readGroups, readOutliers } from './api.ts';
import { describeLevel, levelOf, NORMAL, NOT_JUDGED, nothingFar, OLD_VALUES } from './deviation.ts';
import './baselines.css';
import type { UnitChoices } from '../../units.ts';

/** Interval in ms at which the ranking of the server is read again. */
const REFRESH = { refreshMs: 5000 };

/** Maximum number of entries of the list next to the tiles. */
const LISTED = 12;

/** Returns the site and type filter of the address. */
function useFilter() {
  const { router } = useServices();
  const { query } = router.place.value;
  return { type: query.get('type'), site: query.get('site') };
}

/** @returns the answer; null: unknown yet, because the answer for the previous filter is not used */
function useAnswer<T>(key: string, ask: (signal: AbortSignal) => Promise<T>): T | null {
  const { data, loading, problem } = useQuery(key, ask, REFRESH);
  return loading || problem ? null : data;
}

/**
 * Renders the wall of a fleet that is too large for one cell per sensor: a tile for each device or site, in the color of its
 * worst sensor.
 *
 * @param props `isStale`: no values arrive; `isFull`: the wall has the whole window, and does not scroll
 */
export function GroupWall({ by, isStale, isFull }: { by: Grouping; isStale: boolean; isFull: boolean }) {
  const { client } = useServices();
  const list = useRef<HTMLUListElement | null>(null);
  const filter = useFilter();
  const data = useAnswer(JSON.stringify(['groups', by, filter]), (signal) =>
    readGroups(client, { by, ...filter, limit: MOST_GROUPS }, signal),
  );
  const fitting = useFitting(list, isFull && data !== null);
  if (!data) return <p class="group-wall-note">Reading the whole fleet…</p>;
  const shown = Math.min(data.items.length, fitting);
  const hidden = data.groups - shown;
  return (
    <>
      <ul class="group-wall" ref={list} aria-label={by === 'site' ? 'Sites' : 'Devices'}>
        {data.items.map((group, index) => (
          <li key={group.device_id ?? group.site ?? ''} data-cut={index >= shown}>
            <Tile group={group} isStale={isStale} />
          </li>
        ))}
      </ul>
      {hidden > 0 && (
        <p class="group-wall-note">
          {formatCounted(hidden, `more ${by}`)}, whose values are less unusual than these.
        </p>
      )}
    </>
  );
}

/**
 * Returns the number of tiles that fit completely. Tiles that do not fit keep their places but are hidden, so that a larger
 * window shows them.
 *
 * @param isCut whether the list may be longer than its space
 */
function useFitting(list: { current: HTMLElement | null }, isCut: boolean): number {
  const [fitting, setFitting] = useState(Number.POSITIVE_INFINITY);
  // The effect runs after each drawing, because new tiles may be larger. The observer also measures when it starts.
  useLayoutEffect(() => {
    const { current } = list;
    if (!isCut || !current) {
      setFitting(Number.POSITIVE_INFINITY);
      return undefined;
    }
    const resizes = new ResizeObserver(() => setFitting(countFitting(current)));
    resizes.observe(current);
    return () => resizes.disconnect();
  });
  return fitting;
}

/** @returns number of children before the first child that ends below the list */
function countFitting(list: HTMLElement): number {
  const { bottom } = list.getBoundingClientRect();
  const cut = [...list.children].findIndex((child) => child.getBoundingClientRect().bottom > bottom + 1);
  return cut < 0 ? Number.POSITIVE_INFINITY : cut;
}

/** Renders the tile of a device or site. An old value is not judged, so its tile counts as not judged. */
function Tile({ group, isStale }: { group: OutlierGroup; isStale: boolean }) {
  const { router, preferences } = useServices();
  const { units } = preferences.choice.value;
  const place = router.place.value;
  const { site, device_id, device, sensors, judged, outliers, worst } = group;
  const name = device_id === null ? (site ?? 'No site') : (device ?? device_id);
  const cellState = worst && !isStale ? NORMAL + levelOf(worst.sigmas) : NOT_JUDGED;
  const href = device_id === null ? withQuery(place, { site, cursor: null }) : deviceHref(device_id);
  const content = (
    <>
      <span class="group-tile-name">
        <i class="swatch" data-cell-state={cellState} aria-hidden="true" />
        <b>{name}</b>
      </span>
      <span>
        {formatCounted(sensors, 'sensor')}
        {outliers > 0 && <b> · {formatCount(outliers)} far off</b>}
        {judged < sensors && ` · ${formatCount(sensors - judged)} not judged`}
      </span>
      <span>
        {isStale ? 'Old: no values arrive' : describeLevel(cellState)}
        {worst && !isStale && `: ${nameOf(worst)} ${sensorValueText(worst, units)}`}
      </span>
    </>
  );
  // The tile of sensors without a site is no link, because no filter selects such sensors.
  if (device_id === null && site === null) return <div class="group-tile small">{content}</div>;
  return (
    <a class="group-tile small" href={href}>
      {content}
    </a>
  );
}

const nameOf = ({ name, sensor_id }: OutlierItem) => name ?? sensor_id;

/** Renders the list of the most unusual sensors of the whole fleet, each with a link. */
export function Ranking({ isCalm, isStale }: { isCalm: boolean; isStale: boolean }) {
  const { client, preferences } = useServices();
  const { units } = preferences.choice.value;
  const filter = useFilter();
  const data = useAnswer(JSON.stringify(['outliers', filter]), (signal) =>
    readOutliers(client, { ...filter, limit: LISTED }, signal),
  );
  return (
    <>
      {data && data.outliers > 0 && (
        <div class="stands-out-kind" data-look="far">
          <h2>
            Far off <b>{formatCount(data.outliers)}</b>
          </h2>
          <ul>
            {data.items.map((item) => (
              <li key={keyOf(item)}>
                <OutlierLink item={item} choices={units} />
              </li>
            ))}
          </ul>
          {data.outliers > data.items.length && (
            <p class="stands-out-more">and {formatCount(data.outliers - data.items.length)} more</p>
          )}
        </div>
      )}
      {data?.outliers === 0 && isCalm && (
        <p class="stands-out-none">{isStale ? OLD_VALUES : nothingFar(data)}</p>
      )}
    </>
  );
}

const OutlierLink = ({ item, choices }: { item: OutlierItem; choices: UnitChoices }) => (
  <a href={sensorHref(item.device_id, item.sensor_id)} title={`${formatAge(item.age_ms)} old`}>
    <span class="stands-out-name">
      <span class="stands-out-what">{nameOf(item)}</span>{' '}
      <span class="stands-out-of small">{item.device ?? item.device_id}</span>
    </span>
    <span class="stands-out-text" data-tone={item.sigmas < 0 ? 'low' : 'high'}>
      {item.sigmas < 0 ? '▼' : '▲'} {sensorValueText(item, choices)}
    </span>
  </a>
);

/** Maximum number of groups (devices or sites) of an API answer, and of tiles of the wall. */
const MOST_GROUPS = 1000;

/**
 * Finds the meaning of a tile of the wall. A fleet that fits has a cell for each sensor. A larger fleet has a tile for
 * each device, or for each site if it has more than 1000 devices. A chosen site shows its devices, or its sensors if
 * they fit.
 *
 * @returns null: the wall has one cell for each sensor
 */
export function groupingOf(
  info: Pick<FleetInfo, 'sensors' | 'devices' | 'by_type' | 'by_site'>,
  { type, site }: { type: string | null; site: string | null },
): Grouping | null {
  if (sensorsOf(info, { type, site }) <= MOST_SENSORS) return null;
  const sites = Object.keys(info.by_site).length;
  return site || deviceCount(info) <= MOST_GROUPS || sites < 2 ? 'device' : 'site';
}

/**
 * @returns upper limit of the number of matching sensors. The API counts only the largest types and sites. A type or site
 *   without a count is small, and counts as 0
 */
const sensorsOf = (
  { sensors, by_type, by_site }: Pick<FleetInfo, 'sensors' | 'by_type' | 'by_site'>,
  { type, site }: { type: string | null; site: string | null },
): number =>
  Math.min(
    sensors,
    type ? (by_type[type] ?? 0) : Number.POSITIVE_INFINITY,
    site ? (by_site[site] ?? 0) : Number.POSITIVE_INFINITY,
  );
