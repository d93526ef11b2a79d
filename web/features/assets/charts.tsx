import { useMemo } from 'preact/hooks';
import { pointsFor } from '../../chart/reader.ts';
import { present } from '../../chart/readout.ts';
import { emptyShape, shapeOfBins, within } from '../../chart/shape.ts';
import { SignalChart } from '../../chart/signal-chart.tsx';
import { lengthOf, useWindow, type Window } from '../../chart/window.ts';
import { WindowBar } from '../../chart/window-bar.tsx';
import { formatCounted, formatDateTime } from '../../format.ts';
import { TypeDot } from '../../kit/figure.tsx';
import { ProblemLine } from '../../kit/notice.tsx';
import { useQuery, useServices } from '../../state/hooks.ts';
import type { AssetDetail, AssetMember } from './api.ts';
import { readAssetSeries } from './api.ts';
import { sensorsOf, typesOf } from './condition.ts';
import type { Conditions } from './use-tree.ts';

/** Maximum number of charts on one page. */
const MOST_CHARTS = 12;

/** Renders the roll-up of each type of sensors below an asset, in one window of time. */
export function AssetCharts({
  asset,
  members,
  conditions,
}: {
  asset: AssetDetail;
  members: AssetMember[];
  conditions: Conditions;
}) {
  const { live } = useServices();
  const time = useWindow(null);
  const structure = live.fleet.structure();
  const { isKnown, isLarge, info } = conditions;
  const { types, untyped } = useMemo(() => {
    if (isLarge)
      return { types: Object.keys(info?.by_type ?? {}).map((type) => ({ type, unit: null })), untyped: 0 };
    const sensors = members.flatMap((member) => sensorsOf(member, live.fleet));
    return { types: typesOf(sensors), untyped: sensors.filter(({ type }) => type === null).length };
  }, [live, members, structure, isKnown, isLarge, info]);
  if (types.length + untyped === 0) return null;
  return (
    <section class="panel chart-panel asset-charts" aria-labelledby="asset-charts-title">
      <h2 class="visually-hidden" id="asset-charts-title">
        All sensors of a type
      </h2>
      {types.length > 0 && <WindowBar {...time} />}
      {types.slice(0, MOST_CHARTS).map(({ type, unit }) => (
        <TypeChart key={type} {...{ asset, type, unit, time }} isHiddenIfEmpty={isLarge} />
      ))}
      {types.length > MOST_CHARTS && (
        <p class="asset-note">
          {types.length - MOST_CHARTS} more types of sensors are here. An asset further down has fewer.
        </p>
      )}
      {untyped > 0 && (
        <p class="asset-note">
          A chart shows all sensors of a type. {formatCounted(untyped, 'sensor')} without a type{' '}
          {untyped === 1 ? 'is' : 'are'} in no chart:{' '}
          <a class="link" href="/docs/how-to/manage-devices#set-the-unit-and-type-of-a-sensor" data-native>
            how to set a type
          </a>
          .
        </p>
      )}
    </section>
  );
}

function TypeChart({
  asset,
  type,
  unit,
  time,
  isHiddenIfEmpty,
}: {
  asset: AssetDetail;
  type: string;
  unit: string | null;
  time: ReturnType<typeof useWindow>;
  isHiddenIfEmpty: boolean;
}) {
  const { preferences } = useServices();
  const { units, zone } = preferences.choice.value;
  const { window, bounds } = time;
  const { data, problem, loading, reload } = useAssetSeries(asset.asset_id, type, time.settled);
  const sent = data?.shape ?? emptyShape(window);
  const presented = useMemo(
    () => present(sent, { name: type, type, unit }, { choices: units }),
    [sent, type, unit, units],
  );
  const isEmpty = within(sent, { from: window.from, to: window.to + 1 }).ts.length === 0;
  if (isEmpty && isHiddenIfEmpty) return null;
  return (
    <div class="asset-chart">
      {problem && <ProblemLine problem={problem} onRetry={reload} />}
      <SignalChart
        label={`${type} of ${asset.name} over time`}
        {...{ type, window, bounds, loading }}
        intervalMs={null}
        unit={presented.scale.unit}
        shape={presented.shape}
        states={presented.states}
        onWindow={time.change}
        onReset={time.reset}
        title={
          <b class="asset-type">
            <TypeDot type={type} />
            {type}
          </b>
        }
      >
        {isEmpty && !problem && <p>{loading ? 'Reading…' : 'No samples in this range.'}</p>}
      </SignalChart>
      {data?.completeUntil && (
        <p class="asset-note small">
          Complete until {formatDateTime(data.completeUntil, zone)}. Newer samples are added when their hour
          is packed.
        </p>
      )}
    </div>
  );
}

/** Number of bins of a chart. Each bin costs the API a read of all sensors, if they are few. */
const POINTS = 400;
/** Interval in ms of reading a live window again, at least and at most. */
const REFRESH = { min: 5_000, max: 60_000 };
const MINUTE_MS = 60_000;

function useAssetSeries(asset: string, type: string, window: Window) {
  const { client, clock, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const length = lengthOf(window);
  const range = window.live ? `${length}` : `${window.from}/${window.to}`;
  const refreshMs = Math.min(Math.max(length / POINTS, REFRESH.min), REFRESH.max);
  return useQuery(
    `series of ${asset} ${type} ${range}`,
    async (signal) => {
      const to = window.live ? clock.now() + 1 : window.to;
      const from = to - length;
      const points = pointsFor(length, POINTS, null);
      const utc_offset = Math.round(zone.offsetAt(to) / MINUTE_MS);
      const series = await readAssetSeries(client, asset, { type, from, to, points, utc_offset }, signal);
      const { complete_until } = series;
      return {
        shape: shapeOfBins(series, { from, to }),
        completeUntil: complete_until === null ? null : Date.parse(complete_until),
      };
    },
    window.live ? { refreshMs } : {},
  );
}
