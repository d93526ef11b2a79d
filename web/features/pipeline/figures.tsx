import type { ReadonlySignal } from '@preact/signals';
import type { FleetInfo } from '../../api/types.ts';
import { formatCount, formatCounted } from '../../format.ts';
import { Sparkline } from '../../kit/figure.tsx';
import type { FleetState } from '../../state/fleet-state.ts';
import { sensorsOnline } from '../../state/fleet-state.ts';
import { useServices } from '../../state/hooks.ts';
import { useStale } from '../../state/verdict.ts';
import { Figure } from '../shared/figure.tsx';
import { formatMs, formatRate } from './format.ts';
import { useRecentStats } from './moments.ts';
import { useScreenTimes } from './screen-times.ts';
import './figures.css';

/** The time span of the sparklines in ms: one minute at first, then growing to five minutes. */
const SPAN = { min: 60_000, max: 300_000 };

/** Time in ms without statistics that counts as a gap. Statistics arrive once a second. */
const HOLE_MS = 5_000;

/** A moment with a figure. `at`: time in epoch ms */
type Moment = { at: number };

/**
 * Renders the key figures of fleet and pipeline, with the last five minutes as sparklines. All figures are gray while no
 * values arrive.
 */
export function PipelineFigures({ fleetState }: { fleetState: ReadonlySignal<FleetState> }) {
  const moments = useRecentStats();
  const screen = useScreenTimes();
  const isOld = useStale() !== null;
  const now = moments.at(-1);
  const shown = screen.at(-1);

  return (
    <dl class="figures figures-five" aria-label="The pipeline now">
      <SensorsOnline fleetState={fleetState} isOld={isOld} />
      <Figure label="Samples stored" value={formatRate(now?.samples_per_s)} unit="/s" isOld={isOld}>
        <Line moments={moments} read={(moment) => moment.samples_per_s} />
      </Figure>
      <Figure
        label="Time to commit"
        value={formatMs(now?.commit_ms.p50)}
        unit="ms p50"
        second={formatMs(now?.commit_ms.p99)}
        secondUnit="ms p99"
        isOld={isOld}
      >
        <Line
          moments={moments}
          read={(moment) => moment.commit_ms.p50}
          second={(moment) => moment.commit_ms.p99}
        />
      </Figure>
      <Figure
        label="Commit to screen"
        value={formatMs(shown?.p50)}
        unit="ms p50"
        second={formatMs(shown?.p99)}
        secondUnit="ms p99"
        isOld={isOld}
      >
        <Line moments={screen} read={(moment) => moment.p50} second={(moment) => moment.p99} />
      </Figure>
      <Figure
        label="Refused"
        value={formatRate(now?.refused_per_s)}
        unit="/s"
        tone={now && now.refused_per_s > 0 && !isOld ? 'warn' : undefined}
        isOld={isOld}
      >
        <Line moments={moments} read={(moment) => moment.refused_per_s} />
      </Figure>
    </dl>
  );
}

function SensorsOnline({ fleetState, isOld }: { fleetState: ReadonlySignal<FleetState>; isOld: boolean }) {
  const { live } = useServices();
  const { info, faults } = fleetState.value;
  return (
    <Figure
      label="Sensors online"
      value={formatCount(sensorsOnline(fleetState.value, live.fleet))}
      unit={info ? `of ${formatCount(info.sensors - faults.notLiveSensors)}` : ''}
      isOld={isOld}
    >
      <p class="figure-note">{info && onlineText(info.devices)}</p>
    </Figure>
  );
}

/** Counts only devices that announce a state, or send, as those that should be online. */
function onlineText({ online, offline, not_live }: FleetInfo['devices']): string {
  const text = `${formatCount(online)} of ${formatCounted(online + offline, 'device')} online`;
  return not_live > 0 ? `${text}, ${formatCount(not_live)} not live` : text;
}

function Line<M extends Moment>({
  moments,
  read,
  second,
}: {
  moments: M[];
  /** returns the value to draw; null: the moment has no point */
  read: (moment: M) => number | null;
  second?: (moment: M) => number | null;
}) {
  const newest = moments.at(-1)?.at ?? 0;
  const span = Math.min(Math.max(newest - (moments[0]?.at ?? newest), SPAN.min), SPAN.max);
  const points = (pick?: (moment: M) => number | null) =>
    pick
      ? moments.flatMap((moment) => {
          const y = pick(moment);
          return y === null ? [] : [{ x: moment.at, y }];
        })
      : [];
  return <Sparkline points={points(read)} second={points(second)} floor={0} span={span} hole={HOLE_MS} />;
}
