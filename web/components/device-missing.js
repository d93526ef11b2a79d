import { html } from 'htm/preact';
import { Notice } from './notice.js';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * Stands where nobody knows the device that the address names.
 *
 * @param {{ device: string }} props id or name
 */
export function DeviceMissing({ device }) {
  const isName = !UUID.test(device);
  return html`
    <${Notice} title=${`There is no device “${device}”`} tone="warn">
      <p>
        It may have been retired, or the address is mistyped. A device is here from its first message on: should this one
        speak, it appears by itself.
      </p>
      <p class="notice-ways">
        ${
          isName &&
          html`<a class="button" href=${`/?show=devices&name=${encodeURIComponent(device)}`}>Search names that begin like this</a>`
        }
        <a class="button" href="/">To the fleet</a>
      </p>
    <//>
  `;
}
