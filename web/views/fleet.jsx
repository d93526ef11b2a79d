import { useEffect } from 'preact/hooks';
import { DeviceList } from '../components/device-list.jsx';
import { Figure, Sparkline } from '../components/figure.jsx';
import { SensorList } from '../components/sensor-list.jsx';
import { formatCount, formatCounted, formatMs, formatRate, NOTHING } from '../format.js';
import { useFleetInfo, useFleetState } from '../state/fleet-state.js';
import { useServices, useTitle } from '../state/hooks.js';
import { useRecentStats, useStale } from '../state/stats.js';
import { FleetWall } from '../wall/fleet-wall.jsx';
import { groupingOf, wallSize } from '../wall/options.js';
import '../styles/chart.css';

/** @import { ReadonlySignal } from '@preact/signals' */
/** @import { FleetState } from '../state/fleet-state.js' */

/** The fleet at a glance: key figures, a wall of all sensors, and below them the same as lists, page by page. */
export function FleetView() {
  const { live, router } = useServices();
  const { query } = router.place.value;
  const fleetState = useFleetState();
  const info = useFleetInfo(fleetState);
  useTitle('Fleet');
  const filter = { type: query.get('type'), site: query.get('site') };
  const grouping = info && groupingOf(info, filter);
  useEffect(() => (grouping ? live.followFigures() : live.follow({})), [live, grouping]);
  const isEmpty = info?.sensors === 0 && live.fleet.sensors.size === 0;
  const isFull = wallSize(query).isFull && !isEmpty;

  return (
    <>
      <h1 class="visually-hidden">Fleet</h1>
      {!isFull && <PipelineFigures fleetState={fleetState} />}
      {!isEmpty && <FleetWall info={info} fleetState={fleetState} grouping={grouping} />}
      {!isFull && (query.get('show') === 'devices' ? <DeviceList fleet={info} /> : <SensorList />)}
    </>
  );
}

/** The sparklines reach back so far, in ms: one minute at first, growing to five. */
const SPAN = { min: 60_000, max: 300_000 };

/** Figures come once a second: so long without is a hole. */
const HOLE_MS = 5_000;

/** @typedef {{ at: number }} Moment epoch ms */

/**
 * Current figures of the fleet and the pipeline, with the last five minutes as sparklines. They are dimmed while the connection is
 * lost. While nothing is stored, the rate is marked.
 *
 * @param {{ fleetState: ReadonlySignal<FleetState> }} props
 */
function PipelineFigures({ fleetState }) {
  const { live } = useServices();
  const moments = useRecentStats();
  const screen = live.screenTimes.value;
  const stale = useStale();
  const isStored = stale === null || stale.isLost;
  const now = moments.at(-1);
  const shown = screen.at(-1);

  return (
    <dl class="figures figures-five" aria-label="The pipeline now" data-stale={stale?.isLost ?? false}>
      <SensorsOnline fleetState={fleetState} />
      <Figure
        label="Samples stored"
        value={formatRate(now?.samples_per_s)}
        unit="/s"
        tone={isStored ? undefined : 'warn'}
      >
        <Line moments={moments} read={(/** @type {any} */ moment) => moment.samples_per_s} />
      </Figure>
      <Figure
        label="Time to commit"
        value={formatMs(now?.commit_ms.p50)}
        unit="ms p50"
        second={formatMs(now?.commit_ms.p99)}
        secondUnit="ms p99"
      >
        <Line
          moments={moments}
          read={(/** @type {any} */ moment) => moment.commit_ms.p50}
          second={(/** @type {any} */ moment) => moment.commit_ms.p99}
        />
      </Figure>
      <Figure
        label="Commit to screen"
        value={formatMs(shown?.p50)}
        unit="ms p50"
        second={formatMs(shown?.p99)}
        secondUnit="ms p99"
      >
        <Line
          moments={screen}
          read={(/** @type {any} */ moment) => moment.p50}
          second={(/** @type {any} */ moment) => moment.p99}
        />
      </Figure>
      <Figure
        label="Refused"
        value={formatRate(now?.refused_per_s)}
        unit="/s"
        tone={now && now.refused_per_s > 0 ? 'warn' : undefined}
      >
        <Line moments={moments} read={(/** @type {any} */ moment) => moment.refused_per_s} />
      </Figure>
    </dl>
  );
}

/** @param {{ fleetState: ReadonlySignal<FleetState> }} props */
function SensorsOnline({ fleetState }) {
  const { outliers, info } = fleetState.value;
  const known = info !== null;
  const away = outliers.offlineSensors + outliers.silentCount;
  return (
    <Figure
      label="Sensors online"
      value={known ? formatCount(Math.max(0, info.sensors - away)) : NOTHING}
      unit={known ? `of ${formatCount(info.sensors)}` : ''}
    >
      <p class="figure-note">
        {known &&
          `${formatCounted(info.devices.online, 'device')}${info.devices.offline > 0 ? `, ${formatCount(info.devices.offline)} offline` : ''}`}
      </p>
    </Figure>
  );
}

/**
 * @param {object} props
 * @param {Moment[]} props.moments
 * @param {(moment: any) => number | null} props.read null: no point there
 * @param {(moment: any) => number | null} [props.second]
 */
function Line({ moments, read, second }) {
  const newest = moments.at(-1)?.at ?? 0;
  const span = Math.min(Math.max(newest - (moments[0]?.at ?? newest), SPAN.min), SPAN.max);
  /** @param {(moment: any) => number | null} [pick] */
  const points = (pick) =>
    pick
      ? moments.flatMap((moment) => {
          const y = pick(moment);
          return y === null ? [] : [{ x: moment.at, y }];
        })
      : [];
  return <Sparkline points={points(read)} second={points(second)} floor={0} span={span} hole={HOLE_MS} />;
}
