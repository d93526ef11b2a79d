import { useEffect, useRef } from 'preact/hooks';
import { formatCount, formatCounted } from '../../format.ts';
import { Slot, useJudgment } from '../../kit/slots.tsx';
import { OwnVerdictLine } from '../../kit/verdict.tsx';
import { CURRENT, NO_VALUE, NOT_LIVE, OFFLINE, SILENT } from '../../state/cells.ts';
import { MOST_SENSORS } from '../../state/fleet.ts';
import { useServices } from '../../state/hooks.ts';
import { useStale } from '../../state/verdict.ts';
import { Wall } from './wall.tsx';
import './wall.css';
import type { ComponentProps } from 'preact';
import type { FleetInfo } from '../../api/types.ts';
import type { FleetPicture, Grouping } from '../../feature.ts';
import { deviceCount } from '../../state/fleet-state.ts';

const LARGE = 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10';
const SMALL = 'M6 2.5V6H2.5M13.5 6H10V2.5M10 13.5V10h3.5M2.5 10H6v3.5';

const drawLegend = (legendRef: { current: HTMLUListElement | null }) => <Legend legendRef={legendRef} />;

/** Renders the wall with its legend; `?full` shows the wall alone. */
export function FleetWall({ info, fleetState, grouping, children }: ComponentProps<FleetPicture['Picture']>) {
  const stale = useStale();
  const isStale = stale !== null;
  const section = useRef<HTMLElement | null>(null);
  const { isFull, isKiosk, toggle } = useFullScreen(section);

  return (
    <section class="panel wall" aria-label="Wall" ref={section} data-full={isFull} data-stale={isStale}>
      {isFull && <OwnVerdictLine />}
      <div class="wall-head">
        <Counts info={info} grouping={grouping?.by ?? null} />
        {!isKiosk && (
          <button type="button" class="button quiet-button" onClick={toggle} aria-pressed={isFull}>
            <svg class="icon" viewBox="0 0 16 16" aria-hidden="true">
              <path d={isFull ? SMALL : LARGE} />
            </svg>
            <span>{isFull ? 'Leave full screen' : 'Full screen'}</span>
          </button>
        )}
      </div>
      <div class="wall-body">
        <div class="wall-main">
          {!isFull && children}
          <Slot name="wallPlaces" isLarge={grouping !== null} isFull={isFull} />
          {grouping ? (
            <grouping.GroupWall by={grouping.by} isStale={isStale} isFull={isFull} />
          ) : (
            <Wall legend={drawLegend} isStale={isStale} />
          )}
        </div>
        <Slot name="wallSide" {...{ info, fleetState, isStale }} isLarge={grouping !== null} />
      </div>
    </section>
  );
}

function Counts({ info, grouping }: { info: FleetInfo | null; grouping: Grouping | null }) {
  const { clock, live } = useServices();
  // `fleet` is no signal, so reading the clock here redraws the component each second.
  void clock.time.value;
  const shown = live.fleet.sensors.size;
  const total = Math.max(info?.sensors ?? 0, shown);
  const devices = info ? deviceCount(info) : live.fleet.devices.size;
  const isFull = live.fleet.overflow() > 0;
  useFleetFilter(isFull || total > MOST_SENSORS);
  if (info === null && shown === 0)
    return (
      <p class="wall-counts" role="status">
        Reading the fleet…
      </p>
    );
  const isPart = !grouping && total > shown && (isFull || live.fleet.isNarrow());
  return (
    <p class="wall-counts">
      <b>{formatCounted(total, 'sensor')}</b> · {formatCounted(devices, 'device')}
      {grouping && <span class="wall-part"> · one tile for each {grouping}, the most unusual first</span>}
      {isPart && (
        <span class="wall-part">
          {' '}
          · {formatCount(shown)} of them shown{isFull ? ': choose a site or a type to see others' : ''}
        </span>
      )}
    </p>
  );
}

/** Limits a fleet that is too large for the wall to the site and type of the filters. */
function useFleetFilter(isFull: boolean) {
  const { live, router } = useServices();
  const { query } = router.place.value;
  const [type, site] = [query.get('type'), query.get('site')];
  const applied = useRef('');
  useEffect(() => {
    const filters = JSON.stringify([type, site]);
    const wanted = live.fleet.isNarrow() || (isFull && (type || site));
    // If the filtered fleet is still too large, the same filter is not applied a second time.
    if (!wanted || applied.current === filters) return;
    applied.current = filters;
    live.setFilter({ type, site });
  }, [live, type, site, isFull]);
}

const OTHERS = [
  {
    cellState: SILENT,
    label: 'silent',
    title: 'Nothing for five of its intervals, at least for five minutes',
  },
  {
    cellState: OFFLINE,
    label: 'device offline',
    title: 'Its device announced that it is offline, or lost its connection',
  },
  {
    cellState: NOT_LIVE,
    label: 'not live',
    title: 'Its device announced no state and no interval, and sent nothing for five minutes',
  },
  { cellState: NO_VALUE, label: 'no value yet', title: 'Announced, but nothing was measured so far' },
];

const LegendEntry = ({ cellState, label, title }: (typeof OTHERS)[number]) => (
  <li title={title}>
    <i class="swatch" data-cell-state={cellState} aria-hidden="true" />
    {label}
  </li>
);

const CurrentLegend = () => (
  <LegendEntry cellState={CURRENT} label="current" title="Its newest value is not old" />
);

function Legend({ legendRef }: { legendRef: { current: HTMLUListElement | null } }) {
  const Judged = useJudgment()?.Legend ?? CurrentLegend;
  return (
    <ul class="wall-legend small" ref={legendRef} aria-label="What the cells mean">
      <Judged />
      {OTHERS.map((entry) => (
        <LegendEntry key={entry.cellState} {...entry} />
      ))}
      <Slot name="wallLegend" />
    </ul>
  );
}

/** Returns the size of the wall that the address names: `?full` gives the wall the whole window, `?kiosk` also hides its buttons. */
export function wallSize(query: URLSearchParams): { isFull: boolean; isKiosk: boolean } {
  const isKiosk = query.has('kiosk');
  return { isFull: isKiosk || query.has('full'), isKiosk };
}

/** Browsers allow full screen only after a click, so the address alone gives the wall only the window. */
function useFullScreen(element: { current: HTMLElement | null }) {
  const { router } = useServices();
  const { query } = router.place.value;
  const { isFull, isKiosk } = wallSize(query);

  // Escape and other functions of the browser leave the full screen, too, so the address follows the browser.
  useEffect(() => {
    const note = () => {
      if (!document.fullscreenElement && router.place.peek().query.has('full'))
        router.changeQuery({ full: null }, { replace: true });
    };
    document.addEventListener('fullscreenchange', note);
    return () => document.removeEventListener('fullscreenchange', note);
  }, [router]);

  function toggle() {
    if (document.fullscreenElement) return void document.exitFullscreen();
    router.changeQuery({ full: isFull ? null : '1' });
    // Some browsers and policies refuse full screen. Then the wall still has the whole window.
    if (!isFull && document.fullscreenEnabled) element.current?.requestFullscreen().catch(() => {});
    return undefined;
  }

  return { isFull, isKiosk, toggle };
}
