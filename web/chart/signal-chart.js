import { html } from 'htm/preact';
import { useCallback, useId, useState } from 'preact/hooks';
import { formatStep, formatUnit, hueOf } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';
import { inOneLine, pointWords } from './readout.js';
import { TimeChart } from './time-chart.js';

/** @import { PointWords } from './readout.js' */
/** @import { Shape } from './shape.js' */
/** @import { Thresholds } from '../state/thresholds.js' */
/** @import { Bounds, Window } from './window.js' */

const HINT =
  'Drag to zoom in, Shift and drag to pan, Ctrl and wheel to zoom; on a touch screen pinch and swipe. Keys: plus and minus zoom, arrows walk along the line, with Shift they pan, 0 goes back.';

/**
 * The chart of one sensor, and above it what the cursor is on.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {string | null} props.type
 * @param {string | null} props.unit
 * @param {number | null} props.intervalMs between two samples, from the device's birth
 * @param {Shape} props.shape
 * @param {boolean} props.loading
 * @param {Window} props.window
 * @param {Bounds} props.bounds
 * @param {(next: Window, isSettled: boolean) => void} props.onWindow
 * @param {() => void} props.onReset
 * @param {Thresholds} [props.thresholds]
 * @param {string} [props.cursorKey] charts with the same one move their cursors together
 * @param {any} [props.title] what stands in front of the unit
 * @param {any} [props.children] what stands over an empty chart
 */
export function SignalChart({ name, type, unit, shape, loading, title, children, ...chart }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const [place, setPlace] = useState(/** @type {number | null} */ (null));
  const onPlace = useCallback(setPlace, []);
  const hint = useId();
  return html`
    <figure class="chart-frame hue-${hueOf(type)}" aria-busy=${loading} data-kind=${shape.stepMs === null ? 'samples' : 'bins'}>
      <figcaption>
        <span class="chart-what">${title}<${SourceNote} shape=${shape} unit=${unit} /></span>
        <${Readout} words=${place === null ? null : pointWords(shape, place, unit, zone)} />
      </figcaption>
      <${TimeChart}
        key=${hueOf(type)}
        label=${`${name} over time; a table on this page has the same figures`}
        shape=${shape}
        onPlace=${onPlace}
        inWords=${(/** @type {number} */ at) => inOneLine(pointWords(shape, at, unit, zone))}
        describedBy=${hint}
        ...${chart}
      />
      <p id=${hint} class="visually-hidden">${HINT}</p>
      ${loading && html`<div class="chart-loading" aria-hidden="true"></div>`}
      ${children && html`<div class="chart-over">${children}</div>`}
    </figure>
  `;
}

/** Explains the points of the line. @param {{ shape: Shape, unit: string | null }} props */
function SourceNote({ shape, unit }) {
  const written = formatUnit(unit);
  const source =
    shape.stepMs === null
      ? 'each sample'
      : `average, lowest and highest of every ${formatStep(shape.stepMs)}`;
  if (shape.ts.length === 0) return html`<span>${written}</span>`;
  return html`<span>${written}${written && ' · '}${source}</span>`;
}

/** The values under the cursor. @param {{ words: PointWords | null }} props */
const Readout = ({ words }) =>
  words &&
  html`
    <p class="readout">
      <span>${words.when}</span> <strong>${words.value}</strong> ${words.band && html`<span>${words.band}</span>`}
    </p>
  `;
