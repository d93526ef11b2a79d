import { html } from 'htm/preact';
import { Age } from '../components/value.js';
import { formatCount, formatDateClock, formatMs, formatRate, NOTHING } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';

/** @import { Check, ProcessInfo } from '../api/types.js' */

const ROLES = { all: 'all: takes and serves', ingest: 'ingest: takes', http: 'http: serves readers' };

/**
 * Each process by its last heartbeat. A process sends one every 10 s.
 *
 * @param {{ processes: ProcessInfo[] }} props
 */
export function ProcessTable({ processes }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  return html`
    <div class="scrolls" tabindex="0" role="group" aria-label="Processes, a table that may scroll sideways">
      <table class="plain processes">
        <caption class="visually-hidden">Processes</caption>
        <thead>
          <tr>
            <th scope="col" class="col-name">Process</th>
            <th scope="col" class="col-role">Role</th>
            <th scope="col" class="col-version">Version</th>
            <th scope="col" class="col-since">Since</th>
            <th scope="col" class="col-seen">Seen</th>
            <th scope="col" class="number col-rate">Samples/s</th>
            <th scope="col" class="number col-commit" title="Half and 99 % of messages are committed within so many ms">Commit ms</th>
            <th scope="col" class="number col-window" title="Requests to the database on their way, and how many may be">In flight</th>
            <th scope="col" class="number col-waiting" title="Requests that wait for a place">Waiting</th>
            <th scope="col" class="col-broker">Broker</th>
          </tr>
        </thead>
        <tbody>
          ${processes.map(
            (one) => html`
              <tr key=${one.client_id} data-tone=${one.stale || one.broker?.ok === false ? 'warn' : undefined}>
                <th scope="row" class="col-name" title=${one.client_id}>${one.client_id}</th>
                <td title=${ROLES[one.role]}>${one.role}</td>
                <td>${one.version}</td>
                <td>${formatDateClock(Date.parse(one.since), zone)}</td>
                <td>${one.stale && html`<strong class="wrong">! silent for </strong>`}<${Age} ts=${one.seen} /></td>
                <td class="number">${formatRate(one.samples_per_s)}</td>
                <td class="number">${formatMs(one.commit_ms.p50)} · ${formatMs(one.commit_ms.p99)}</td>
                <td class="number">${formatCount(one.in_flight)} of ${formatCount(one.pressure.window)}</td>
                <td class="number">${formatCount(one.pressure.waiting)}</td>
                <td class="col-broker">${brokerWords(one.broker)}</td>
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
  `;
}

/** @param {Check | null} broker */
function brokerWords(broker) {
  if (!broker) return html`<span title="It has no session there">${NOTHING}</span>`;
  return broker.ok
    ? `✓ ${broker.says}`
    : html`<strong class="wrong" title=${broker.says}>✕ ${broker.says}</strong>`;
}
