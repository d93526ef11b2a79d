import { html } from 'htm/preact';
import { Age } from '../components/value.js';
import { formatCount, formatDateClock, formatMs, formatRate, NOTHING } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';

/** @import { Check, ProcessInfo } from '../api/types.js' */

const ROLES = { all: 'all: takes and serves', ingest: 'ingest: takes', http: 'http: serves readers' };

/**
 * Each process by its last heartbeat. A process sends process every 10 s.
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
            (process) => html`
              <tr key=${process.client_id} data-tone=${process.stale || process.broker?.ok === false ? 'warn' : undefined}>
                <th scope="row" class="col-name" title=${process.client_id}>${process.client_id}</th>
                <td title=${ROLES[process.role]}>${process.role}</td>
                <td>${process.version}</td>
                <td>${formatDateClock(Date.parse(process.since), zone)}</td>
                <td>${process.stale && html`<strong class="wrong">! silent for </strong>`}<${Age} ts=${process.seen} /></td>
                <td class="number">${formatRate(process.samples_per_s)}</td>
                <td class="number">${formatMs(process.commit_ms.p50)} · ${formatMs(process.commit_ms.p99)}</td>
                <td class="number">${formatCount(process.in_flight)} of ${formatCount(process.pressure.window)}</td>
                <td class="number">${formatCount(process.pressure.waiting)}</td>
                <td class="col-broker">${brokerWords(process.broker)}</td>
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
    ? `✓ ${broker.message}`
    : html`<strong class="wrong" title=${broker.message}>✕ ${broker.message}</strong>`;
}
