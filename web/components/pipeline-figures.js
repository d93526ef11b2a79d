import { html } from 'htm/preact';
import { formatCount, formatCounted, formatMs, formatRate, NOTHING } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';
import { useRecentStats } from '../state/stats.js';
import { Figure } from './figure.js';
import { Sparkline } from './sparkline.js';

/** @import { Observable } from '../state/observable.js' */
/** @import { FleetState } from '../state/fleet-state.js' */

/** The sparklines reach back so far, in ms: one minute at first, growing to five. */
const SPAN = { min: 60_000, max: 300_000 };

/** Figures come once a second: so long without is a hole. */
const HOLE_MS = 5_000;

/** @typedef {{ at: number }} Moment epoch ms */

/**
 * Current figures of the fleet and the pipeline, with the last five minutes as sparklines. They are dimmed while the connection is
 * lost.
 *
 * @param {{ fleetState: Observable<FleetState> }} props
 */
export function PipelineFigures({ fleetState }) {
  const { live } = useServices();
  const moments = useRecentStats();
  const screen = useObservable(live.screenTimes);
  const status = useObservable(live.status);
  const now = moments.at(-1);
  const shown = screen.at(-1);

  return html`
    <dl class="figures figures-five" aria-label="The pipeline now" data-stale=${status === 'reconnecting'}>
      <${SensorsOnline} fleetState=${fleetState} />
      <${Figure} label="Samples stored" value=${formatRate(now?.samples_per_s)} unit="/s">
        <${Line} moments=${moments} read=${(/** @type {any} */ moment) => moment.samples_per_s} />
      <//>
      <${Figure}
        label="Time to commit"
        value=${formatMs(now?.commit_ms.p50)}
        unit="ms p50"
        second=${formatMs(now?.commit_ms.p99)}
        secondUnit="ms p99"
      >
        <${Line}
          moments=${moments}
          read=${(/** @type {any} */ moment) => moment.commit_ms.p50}
          second=${(/** @type {any} */ moment) => moment.commit_ms.p99}
        />
      <//>
      <${Figure}
        label="Commit to screen"
        value=${formatMs(shown?.p50)}
        unit="ms p50"
        second=${formatMs(shown?.p99)}
        secondUnit="ms p99"
      >
        <${Line} moments=${screen} read=${(/** @type {any} */ moment) => moment.p50} second=${(/** @type {any} */ moment) => moment.p99} />
      <//>
      <${Figure}
        label="Refused"
        value=${formatRate(now?.refused_per_s)}
        unit="/s"
        tone=${now && now.refused_per_s > 0 ? 'warn' : undefined}
      >
        <${Line} moments=${moments} read=${(/** @type {any} */ moment) => moment.refused_per_s} />
      <//>
    </dl>
  `;
}

/** @param {{ fleetState: Observable<FleetState> }} props */
function SensorsOnline({ fleetState }) {
  const { outliers, info } = useObservable(fleetState);
  const known = info !== null;
  const away = outliers.offlineSensors + outliers.silentCount;
  return html`
    <${Figure}
      label="Sensors online"
      value=${known ? formatCount(Math.max(0, info.sensors - away)) : NOTHING}
      unit=${known ? `of ${formatCount(info.sensors)}` : ''}
    >
      <p class="figure-note">
        ${known && `${formatCounted(info.devices.online, 'device')}${info.devices.offline > 0 ? `, ${formatCount(info.devices.offline)} offline` : ''}`}
      </p>
    <//>
  `;
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
  return html`<${Sparkline} points=${points(read)} second=${points(second)} floor=${0} span=${span} hole=${HOLE_MS} />`;
}
