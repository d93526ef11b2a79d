import { html } from 'htm/preact';
import { formatClock, formatDateClock, formatDuration, formatZone } from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';

/** @import { Pipeline } from '../api/types.js' */

/**
 * The nodes of the database, as the process that answers sees them, and how far history is packed.
 *
 * @param {{ pipeline: Pipeline, now: number, isOld: boolean }} props
 *   `isOld`: nothing newer is known, so that a node may be down by now
 */
export const Storage = ({ pipeline, now, isOld }) => html`
  <div class="pair">
    <section class="panel" aria-label="Database nodes">
      <h2 class="panel-title">Database nodes</h2>
      <ul class="nodes">
        ${pipeline.database.nodes.map(
          ({ address, data_center, up }) => html`
            <li key=${address}>
              <span class="node-state" data-up=${isOld ? undefined : up}>${isOld ? `was ${up ? 'up' : 'down'}` : up ? '✓ up' : '✕ down'}</span>
              <span>${address}</span>
              <span class="quiet">${data_center}</span>
            </li>
          `,
        )}
      </ul>
    </section>
    <section class="panel" aria-label="Packing">
      <h2 class="panel-title">Packing</h2>
      <${Packing} packedUntil=${pipeline.packed_until} now=${now} />
    </section>
  </div>
`;

/** @param {{ packedUntil: string, now: number }} props */
function Packing({ packedUntil, now }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const { until, newest, behindMs } = packingOf(packedUntil, now);
  return html`
    <p class="packing" data-tone=${behindMs >= BEHIND_MS ? 'warn' : undefined}>
      <strong class="packing-until">${behindMs === 0 ? '✓ ' : ''}Packed until ${formatDateClock(until, zone)} ${formatZone(zone, until)}</strong>,${' '}
      ${behindMs === 0 ? 'all that may be by now.' : `${formatDuration(behindMs)} behind the newest hour that may be packed, which ended at ${formatClock(newest, zone)}.`}
    </p>
    <p class="packing-why">Each hour, once closed an hour after its end, is compressed into history, with its lowest, highest and average: so a chart of a year is quick. Reads are exact before and after.</p>
  `;
}

/** An hour is closed, and may be packed, so long after its end; as schema/rules.js has it, which a test compares. */
export const PACK_DELAY_MS = 3_600_000;
const HOUR_MS = 3_600_000;

/** Packing that is further back than this deserves a look; nothing is lost, only long charts are slower to read. */
export const BEHIND_MS = 6 * HOUR_MS;

/**
 * @param {string} packedUntil ISO 8601
 * @param {number} now epoch ms
 * @returns {{ until: number, newest: number, behindMs: number }} `newest`: end of the newest hour that may be packed
 */
export function packingOf(packedUntil, now) {
  const until = Date.parse(packedUntil);
  const newest = Math.floor((now - PACK_DELAY_MS) / HOUR_MS) * HOUR_MS;
  return { until, newest, behindMs: Math.max(0, newest - until) };
}
