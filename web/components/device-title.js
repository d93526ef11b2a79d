import { html } from 'htm/preact';
import { formatCounted, formatDateTime } from '../format.js';
import { heardAt } from '../state/heard.js';
import { useObservable, useParts } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { Age } from './age.js';
import { Online } from './online.js';

/** @import { DeviceInfo } from '../api/types.js' */

/**
 * Which device, where it is, and whether it is there.
 *
 * @param {object} props
 * @param {string} props.name
 * @param {DeviceInfo | null} props.device null: not known yet
 * @param {any} [props.children] what can be done with it
 */
export const DeviceTitle = ({ name, device, children }) => html`
  <div class="title">
    <div>
      <h1>${name}</h1>
      ${device ? html`<${Facts} device=${device} />` : html`<p class="facts waiting" aria-hidden="true"><span class="bar bar-facts"></span></p>`}
    </div>
    ${children}
  </div>
`;

/** @param {{ device: DeviceInfo }} props */
function Facts({ device }) {
  const { name, online, site, registered_at, sensors } = device;
  const { preferences } = useParts();
  const { zone } = useObservable(preferences);
  return html`
    <ul class="facts">
      <li><${Online} online=${online} /></li>
      ${name === null && html`<li>no name told yet</li>`}
      ${site && html`<li><a href=${`/?show=devices&site=${encodeURIComponent(site)}`}>${site}</a></li>`}
      <li>${formatCounted(sensors.length, 'sensor')}</li>
      <li>last heard <${LastHeard} device=${device} /></li>
      ${
        registered_at &&
        html`<li>registered <time datetime=${registered_at}>${formatDateTime(Date.parse(registered_at), zone)}</time></li>`
      }
    </ul>
  `;
}

/**
 * By the values that come live: what was asked for once grows old beside them.
 *
 * @param {{ device: DeviceInfo }} props
 */
function LastHeard({ device: { device_id, last_seen, sensors } }) {
  const { live, clock } = useParts();
  const now = useObservable(clock);
  const newest = sensors.map((sensor) => live.sensor(keyOf({ ...sensor, device_id }))?.item ?? sensor);
  return html`<${Age} ts=${heardAt(last_seen, newest, now)} />`;
}
