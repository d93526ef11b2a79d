import { html } from 'htm/preact';
import { useMemo, useRef } from 'preact/hooks';
import { emptyShape } from '../chart/shape.js';
import { TimeChart } from '../chart/time-chart.js';
import { formatDateTime, formatDuration } from '../format.js';
import { happenedAt, onlineSpans, spanAt, useEventsOf } from '../state/device-events.js';
import { useObservable, useServices } from '../state/hooks.js';
import { bandPlugin, paintBand } from './chart-plugins.js';

/** @import { Band } from './chart-plugins.js' */
/** @import { DeviceInfo } from '../api/types.js' */
/** @import { Observable } from '../state/observable.js' */
/** @import { Shape } from '../chart/shape.js' */
/** @import { Window, useWindow } from '../chart/window.js' */

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
  const { preferences } = useServices();
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
        label="Online, offline and births over time; the list of events has the same figures"
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

/** @typedef {Omit<Band, 'now'>} Known */

/**
 * The state of the device at the cursor as text; without a cursor, its current state.
 *
 * @param {{ online: boolean, band: Known, cursor: Observable<number | null> }} props
 */
function EventWords({ online, band, cursor }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const ts = useObservable(cursor);
  const [head, words] =
    ts === null
      ? ['State', online ? 'Online now' : 'Offline now']
      : [formatDateTime(ts, zone), wordsAt(band, ts)];
  return html`
    <p class="signal-text">
      <strong class="signal-state">${head}</strong><span>${words}</span>
    </p>
  `;
}

/** @param {Known} band @param {number} ts @returns {string} */
function wordsAt({ events, spans, knownFrom }, ts) {
  if (knownFrom !== null && ts < knownFrom) return 'Too many events to show';
  const kinds = happenedAt(events, ts);
  if (kinds.includes('offline')) return wentOffline(spans, ts);
  if (kinds.length > 0) return kinds.join(', then ').replace(/^./, (first) => first.toUpperCase());
  const span = spanAt(spans, ts);
  if (span) return `Online for ${formatDuration(ts - span.from)}`;
  return spans.length > 0 ? 'Offline' : 'State unknown';
}

/** @param {Known['spans']} spans @param {number} ts */
function wentOffline(spans, ts) {
  const span = spans.find(({ to }) => to === ts);
  return span ? `Offline, after ${formatDuration(ts - span.from)}` : 'Offline';
}
