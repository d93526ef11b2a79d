import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { formatCount, formatCounted } from '../format.js';
import { LEARNING, NO_VALUE, NORMAL, OFFLINE, SILENT } from '../state/cell-state.js';
import { useObservable, useServices } from '../state/hooks.js';
import { OutlierList } from './outlier-list.js';
import { Wall } from './wall.js';

/** @import { FleetInfo } from '../api/types.js' */
/** @import { Observable } from '../state/observable.js' */
/** @import { FleetState } from '../state/fleet-state.js' */

const LARGE = 'M2.5 6V2.5H6M10 2.5h3.5V6M13.5 10v3.5H10M6 13.5H2.5V10';
const SMALL = 'M6 2.5V6H2.5M13.5 6H10V2.5M10 13.5V10h3.5M2.5 10H6v3.5';

const drawLegend = (/** @type {{ current: HTMLElement | null }} */ legendRef) =>
  html`<${Legend} legendRef=${legendRef} />`;

/**
 * The wall with all that explains it; a screen on a wall may have it alone.
 *
 * @param {object} props
 * @param {FleetInfo | null} props.info the API's own count
 * @param {Observable<FleetState>} props.fleetState
 */
export function FleetWall({ info, fleetState }) {
  const { live } = useServices();
  const status = useObservable(live.status);
  const section = useRef(/** @type {HTMLElement | null} */ (null));
  const [isLarge, toggle] = useFullScreen(section);

  return html`
    <section class="panel wall" aria-label="Wall" ref=${section} data-stale=${status === 'reconnecting'}>
      <div class="wall-head">
        <${Counts} info=${info} />
        ${
          document.fullscreenEnabled &&
          html`
            <button type="button" class="button quiet-button" onClick=${toggle} aria-pressed=${isLarge}>
              <svg class="icon" viewBox="0 0 16 16" aria-hidden="true"><path d=${isLarge ? SMALL : LARGE} /></svg>
              <span>${isLarge ? 'Leave full screen' : 'Full screen'}</span>
            </button>
          `
        }
      </div>
      <div class="wall-body">
        <div class="wall-main"><${Wall} legend=${drawLegend} /></div>
        <${OutlierList} fleetState=${fleetState} />
      </div>
    </section>
  `;
}

/** @param {{ info: FleetInfo | null }} props */
function Counts({ info }) {
  const { live } = useServices();
  useObservable(useServices().clock);
  const shown = live.fleet.sensors.size;
  const total = Math.max(info?.sensors ?? 0, shown);
  const devices = info ? info.devices.online + info.devices.offline : live.fleet.devices.size;
  const isFull = live.fleet.refused() > 0;
  useNarrowing(isFull);
  const isPart = total > shown && (isFull || live.fleet.isNarrow());
  return html`
    <p class="wall-counts">
      <b>${formatCounted(total, 'sensor')}</b> · ${formatCounted(devices, 'device')}
      ${isPart && html`<span class="wall-part"> · ${formatCount(shown)} of them shown${isFull ? ': choose a site or a type to see others' : ''}</span>`}
    </p>
  `;
}

/** A fleet that is too large for the wall is shown by site and type, by the filters. @param {boolean} isFull */
function useNarrowing(isFull) {
  const { live, router } = useServices();
  const { query } = useObservable(router.place);
  const [type, site] = [query.get('type'), query.get('site')];
  const applied = useRef('');
  useEffect(() => {
    const filters = JSON.stringify([type, site]);
    const wanted = live.fleet.isNarrow() || (isFull && (type || site));
    // A narrowed fleet that is still too large is not narrowed again.
    if (!wanted || applied.current === filters) return;
    applied.current = filters;
    live.narrow({ type, site });
  }, [live, type, site, isFull]);
}

/** @param {{ current: HTMLElement | null }} element @returns {[boolean, () => void]} whether it has the screen, and the switch */
function useFullScreen(element) {
  const [isLarge, setLarge] = useState(false);
  useEffect(() => {
    const note = () => setLarge(document.fullscreenElement !== null);
    document.addEventListener('fullscreenchange', note);
    return () => document.removeEventListener('fullscreenchange', note);
  }, []);
  const toggle = () =>
    void (document.fullscreenElement ? document.exitFullscreen() : element.current?.requestFullscreen());
  return [isLarge, toggle];
}

const SCALE = Array.from({ length: 2 * NORMAL + 1 }, (_, cellState) => cellState);
const OTHERS = [
  {
    cellState: LEARNING,
    label: 'learning its range',
    title:
      'It sent fewer than five values since this page was opened, and has too few sensors of its type for a comparison',
  },
  { cellState: SILENT, label: 'silent', title: 'Nothing for five minutes, or for five of its intervals' },
  {
    cellState: OFFLINE,
    label: 'device offline',
    title: 'Its device disconnected, or sent nothing for five minutes',
  },
  { cellState: NO_VALUE, label: 'no value yet', title: 'Announced, but nothing was measured so far' },
];

/** Explains the colors and shapes of the wall. @param {{ legendRef: { current: HTMLElement | null } }} props */
const Legend = ({ legendRef }) => html`
  <ul class="wall-legend" ref=${legendRef} aria-label="What the cells mean">
    <li class="wall-scale" title="How far each value is from what its own sensor measured in the last minutes, in its usual spread; of a sensor just met, from what others of its type measure">
      <span>far below</span>
      <span class="wall-scale-steps" aria-hidden="true">
        ${SCALE.map((cellState) => html`<i key=${cellState} class="swatch" data-cell-state=${cellState}></i>`)}
      </span>
      <span>far above its usual</span>
    </li>
    ${OTHERS.map(
      ({ cellState, label, title }) => html`
        <li key=${cellState} title=${title}><i class="swatch" data-cell-state=${cellState} aria-hidden="true"></i>${label}</li>
      `,
    )}
  </ul>
`;
