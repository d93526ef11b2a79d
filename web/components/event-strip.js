import { html } from 'htm/preact';
import { useMemo, useRef } from 'preact/hooks';
import { emptyShape } from '../chart/shape.js';
import { TimeChart } from '../chart/time-chart.js';
import { formatDateTime } from '../format.js';
import { onlineSpans } from '../state/device-events.js';
import { useObservable, useParts } from '../state/hooks.js';
import { useEventsOf } from '../state/use-device-events.js';
import { paintBand } from './event-band.js';
import { EventWords, wordsAt } from './event-words.js';
import { bandPlugin } from './linked-plugins.js';

/** @import { DeviceInfo } from '../api/types.js' */
/** @import { Shape } from '../chart/shape.js' */
/** @import { useWindow } from '../chart/use-window.js' */
/** @import { Window } from '../chart/window.js' */
/** @import { Observable } from '../state/observable.js' */
/** @import { Band } from './event-band.js' */

/**
 * When the device was online, and its births, over the time that the charts below show; and the times of all of them.
 *
 * @param {object} props
 * @param {DeviceInfo} props.device
 * @param {string | null} props.newest time of the newest event known
 * @param {ReturnType<typeof useWindow>} props.time
 * @param {string} props.cursorKey
 * @param {Observable<number | null>} props.cursor epoch ms, which all charts share
 * @param {string} props.describedBy
 */
export function EventStrip({ device, newest, time, cursorKey, cursor, describedBy }) {
  const { window, bounds, change, reset } = time;
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  const known = useEventsOf(device.device_id, window, newest);
  const { shape, band } = useMemo(() => pictureOf(known), [known]);
  const current = useRef({ ...band, now: bounds.now });
  current.current = { ...band, now: bounds.now };
  const plugins = useMemo(() => [bandPlugin(() => current.current, cursor.set, paintBand)], [cursor]);

  /** @param {number} place */
  const inWords = (place) => {
    const ts = shape.ts[place] ?? 0;
    return `${wordsAt(band, ts)}, ${formatDateTime(ts, zone)}`;
  };

  return html`
    <div class="signal signal-times">
      <${EventWords} online=${device.online} band=${band} cursor=${cursor} />
      <${TimeChart}
        label="Online, offline and births over time; the list of events says the same"
        shape=${shape}
        intervalMs=${null}
        window=${window}
        bounds=${bounds}
        onWindow=${change}
        onReset=${reset}
        onPlace=${nothing}
        inWords=${inWords}
        cursorKey=${cursorKey}
        plugins=${plugins}
        describedBy=${describedBy}
      />
    </div>
  `;
}

const nothing = () => {};

/**
 * @param {ReturnType<typeof useEventsOf>} known
 * @returns {{ shape: Shape, band: Omit<Band, 'now'> }} `shape`: the
 *   instants at which something happened, for the arrow keys to walk along
 */
function pictureOf(known) {
  const events = known?.events ?? [];
  const times = [...new Set(events.map(({ ts }) => Date.parse(ts)))].sort((a, b) => a - b);
  const level = times.map(() => 0);
  return {
    shape: { ...emptyShape({ from: 0, to: 0 }), ts: times, min: level, avg: level, max: level, count: level },
    band: {
      events,
      spans: onlineSpans(events, known?.onlineSince ?? null),
      births: events.filter(({ kind }) => kind === 'birth').map(({ ts }) => Date.parse(ts)),
      knownFrom: known?.knownFrom ?? null,
    },
  };
}
