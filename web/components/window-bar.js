import { html } from 'htm/preact';
import { useEffect, useRef } from 'preact/hooks';
import { lengthOf, SPANS, zoomStep } from '../chart/window.js';
import { formatDateTime, formatDuration, formatZone } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';
import { Choice } from './choice.js';

/** @import { useWindow } from '../chart/window.js' */

const OPTIONS = SPANS.map(({ value, label, title }) => ({ value, label, title }));

/**
 * The range of time that is shown, and controls for another one.
 *
 * @param {Pick<ReturnType<typeof useWindow>, 'window' | 'bounds' | 'change' | 'goLive' | 'reset'>} props
 */
export function WindowBar({ window, bounds, change, goLive, reset }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const { live, from, to } = window;
  const chosen = live ? SPANS.find(({ ms }) => ms === lengthOf(window)) : undefined;
  const bar = useRef(/** @type {HTMLElement | null} */ (null));
  const comesBack = useRef(false);
  useEffect(() => {
    /** The button that was pressed is gone: one goes on among the ranges. @type {HTMLElement | null | undefined} */
    const next = bar.current?.querySelector('input:checked') ?? bar.current?.querySelector('input');
    if (live && comesBack.current) next?.focus();
    comesBack.current = false;
  }, [live]);
  const goBack = () => {
    comesBack.current = true;
    reset();
  };
  /** @param {-1 | 1} direction */
  const step = (direction) => change(zoomStep(window, direction, null, bounds), true);
  return html`
    <div class="panel-head window-bar" ref=${bar}>
      <${Choice}
        legend="Range"
        options=${OPTIONS}
        value=${chosen?.value ?? ''}
        onChange=${(/** @type {string} */ value) => goLive(SPANS.find((span) => span.value === value)?.ms ?? lengthOf(window))}
      />
      <div class="window-zoom" role="group" aria-label="Zoom">
        <button type="button" class="button" aria-label="Zoom out" title="Zoom out (−)" onClick=${() => step(1)}>−</button>
        <button type="button" class="button" aria-label="Zoom in" title="Zoom in (+)" onClick=${() => step(-1)}>+</button>
      </div>
      <p class="panel-note window-note">
        ${
          live
            ? html`${!chosen && html`<span>The last ${formatDuration(lengthOf(window))}</span>`}
                <span class="window-hint">Drag to zoom in · Shift + drag to pan · Ctrl + wheel to zoom · keys + − ← → 0</span>`
            : html`<span><time>${formatDateTime(from, zone)}</time> to <time>${formatDateTime(to, zone)}</time> ${formatZone(zone, to)}, ${formatDuration(lengthOf(window))}</span>
                <button type="button" class="button" onClick=${goBack}>Back to now</button>`
        }
      </p>
    </div>
  `;
}
