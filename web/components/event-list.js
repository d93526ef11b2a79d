import { html } from 'htm/preact';
import { formatDateTime, formatDuration, formatZone, NOTHING } from '../format.js';
import { listed } from '../state/device-events.js';
import { useObservable, useServices } from '../state/hooks.js';
import { ProblemNotice } from './notice.js';

/** @import { Listed, useDeviceEvents } from '../state/device-events.js' */

const WORDS = { birth: 'Birth', online: 'Online', offline: 'Offline' };

/**
 * Births, online and offline, newest first: when, what, and how long it had been online.
 *
 * @param {{ history: ReturnType<typeof useDeviceEvents>, online: boolean }} props
 */
export function EventList({ history, online }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const { events, problem, reload, more, busy } = history;

  if (problem && !events) return html`<${ProblemNotice} problem=${problem} onRetry=${reload} />`;
  if (events?.length === 0) {
    return html`<h2 class="panel-title">Events</h2>
      <p class="none">
        None yet. Devices publish births and status messages. This one has only sent measurements, and counts as online for
        five minutes after each.
      </p>`;
  }
  const rows = events ? listed(events) : null;
  return html`
    <table class="samples events" aria-busy=${events === null}>
      <caption>Events, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Time ${formatZone(zone, rows?.[0]?.ts ?? Date.now())}</th>
          <th scope="col" class="col-event">Event</th>
          <th scope="col" class="col-number">Online for</th>
        </tr>
      </thead>
      <tbody>
        ${
          rows
            ? rows.map(
                (event, index) =>
                  html`<${EventRow} key=${`${event.ts} ${event.kind}`} event=${event} current=${online && isCurrent(rows, index)} />`,
              )
            : Array.from({ length: 4 }, (_, index) => html`<${EmptyRow} key=${index} />`)
        }
      </tbody>
    </table>
    ${problem && html`<p class="slow" role="alert">${problem.message}. <button type="button" class="button" onClick=${reload}>Try again</button></p>`}
    ${
      more &&
      html`<p class="more">
        <button type="button" class="button" disabled=${busy} onClick=${more}>Show earlier ones</button>
      </p>`
    }
  `;
}

/** @param {Listed[]} rows @param {number} index @returns {boolean} whether it began the time online that still goes on */
function isCurrent(rows, index) {
  const end = rows.findIndex(({ kind }) => kind === 'offline');
  const since = rows.slice(0, end === -1 ? rows.length : end).findLastIndex(({ kind }) => kind === 'online');
  return index === since;
}

/** @param {{ event: Listed, current: boolean }} props */
function EventRow({ event: { kind, ts, onlineFrom }, current }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  return html`
    <tr>
      <td><time datetime=${new Date(ts).toISOString()}>${formatDateTime(ts, zone)}</time></td>
      <td class="col-event"><span class="event" data-kind=${kind}>${WORDS[kind]}</span></td>
      <td class="col-number">
        ${current ? html`<${SoFar} from=${ts} />` : kind === 'offline' && (onlineFrom === null ? NOTHING : formatDuration(ts - onlineFrom))}
      </td>
    </tr>
  `;
}

/** @param {{ from: number }} props epoch ms */
function SoFar({ from }) {
  const { clock } = useServices();
  const now = useObservable(clock);
  return html`<span title="Still online">${formatDuration(Math.max(now - from, 0))}</span><span class="visually-hidden"> so far</span>`;
}

const EmptyRow = () => html`
  <tr class="waiting" aria-hidden="true">
    <td><span class="bar bar-long"></span></td>
    <td class="col-event"><span class="bar"></span></td>
    <td></td>
  </tr>
`;
