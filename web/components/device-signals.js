import { html } from 'htm/preact';
import { useMemo } from 'preact/hooks';
import { useWindow } from '../chart/use-window.js';
import { byUnit } from '../state/choose-sensors.js';
import { createGate, gated } from '../state/gate.js';
import { PartsContext, useParts } from '../state/hooks.js';
import { createObservable } from '../state/observable.js';
import { EventStrip } from './event-strip.js';
import { SignalRow } from './signal-row.js';
import { WindowBar } from './window-bar.js';

/** @import { DeviceInfo, LatestItem } from '../api/types.js' */

/** Readings of charts that are under way at once: a browser has six connections to a host, all tabs together. */
const AT_ONCE = 3;
const HINT = 'device-signals-hint';

/**
 * The sensors of a device, and what became of it, on one axis of time with one cursor.
 *
 * @param {object} props
 * @param {DeviceInfo} props.device
 * @param {LatestItem[]} props.items its sensors that are shown
 * @param {string | null} props.newestEvent its time
 */
export function DeviceSignals({ device, items, newestEvent }) {
  const parts = useParts();
  const careful = useMemo(() => ({ ...parts, client: gated(parts.client, createGate(AT_ONCE)) }), [parts]);
  const cursor = useMemo(() => createObservable(/** @type {number | null} */ (null)), []);
  const time = useWindow(newestSample(items));
  const intervals = useMemo(
    () => new Map(device.sensors.map(({ sensor_id, interval_ms }) => [sensor_id, interval_ms])),
    [device.sensors],
  );
  const linked = { time, cursor, cursorKey: device.device_id, describedBy: HINT };

  return html`
    <${PartsContext.Provider} value=${careful}>
      <section class="panel signals" aria-label="Signals">
        <${WindowBar} ...${time} />
        <p id=${HINT} class="said">
          The cursor is shared by all of these charts. Keys: arrows walk along the line, plus and minus zoom, arrows with Shift
          pan, 0 goes back.
        </p>
        <${EventStrip} device=${device} newest=${newestEvent} ...${linked} />
        ${byUnit(items).map(
          (group) => html`
            <ul key=${group.label} class="signal-group">
              ${group.items.map(
                (item) =>
                  html`<${SignalRow} key=${item.sensor_id} item=${item} intervalMs=${intervals.get(item.sensor_id) ?? null} ...${linked} />`,
              )}
            </ul>
          `,
        )}
      </section>
    <//>
  `;
}

/** @param {LatestItem[]} items @returns {number | null} epoch ms */
function newestSample(items) {
  const newest = items.reduce((most, { ts }) => (ts !== null && ts > most ? ts : most), '');
  return newest ? Date.parse(newest) : null;
}
