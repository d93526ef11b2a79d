import { html } from 'htm/preact';

/**
 * Whether a device is there: by a disc or a ring, and by the word.
 *
 * @param {{ online: boolean }} props
 */
export const Online = ({ online }) =>
  html`<span class="state" data-online=${online}>${online ? 'Online' : 'Offline'}</span>`;
