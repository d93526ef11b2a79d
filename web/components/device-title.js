import { html } from 'htm/preact';
import { formatCounted, formatDateTime } from '../format.js';
import { lastSeenAt } from '../state/device.js';
import { useObservable, useServices } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { Notice } from './notice.js';
import { Age } from './value.js';

/** @import { DeviceInfo } from '../api/types.js' */

/**
 * The title of a device page: name, site and state.
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
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  return html`
    <ul class="facts">
      <li><${Online} online=${online} /></li>
      ${name === null && html`<li>no name yet</li>`}
      ${site && html`<li><a href=${`/?show=devices&site=${encodeURIComponent(site)}`}>${site}</a></li>`}
      <li>${formatCounted(sensors.length, 'sensor')}</li>
      <li>last seen <${LastSeen} device=${device} /></li>
      ${
        registered_at &&
        html`<li>registered <time datetime=${registered_at}>${formatDateTime(Date.parse(registered_at), zone)}</time></li>`
      }
    </ul>
  `;
}

/**
 * Uses live values, since the answer of the API grows old next to them.
 *
 * @param {{ device: DeviceInfo }} props
 */
function LastSeen({ device: { device_id, last_seen, sensors } }) {
  const { live, clock } = useServices();
  const now = useObservable(clock);
  const newest = sensors.map((sensor) => live.sensor(keyOf({ ...sensor, device_id }))?.item ?? sensor);
  return html`<${Age} ts=${lastSeenAt(last_seen, newest, now)} />`;
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The page of a device that does not exist.
 *
 * @param {{ device: string }} props id or name
 */
export function DeviceMissing({ device }) {
  const isName = !UUID.test(device);
  return html`
    <${Notice} title=${`There is no device “${device}”`} tone="warn">
      <p>
        It was retired, or the address is mistyped. A device appears here by itself with its first message.
      </p>
      <p class="notice-actions">
        ${
          isName &&
          html`<a class="button" href=${`/?show=devices&name=${encodeURIComponent(device)}`}>Search names that begin like this</a>`
        }
        <a class="button" href="/">To the fleet</a>
      </p>
    <//>
  `;
}

/**
 * The state of a device, as a symbol and a word.
 *
 * @param {{ online: boolean }} props
 */
export const Online = ({ online }) =>
  html`<span class="state" data-online=${online}>${online ? 'Online' : 'Offline'}</span>`;
