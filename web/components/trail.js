import { html } from 'htm/preact';

/**
 * The way back up: fleet, device.
 *
 * @param {{ steps: { label: string, href: string }[] }} props
 */
export const Trail = ({ steps }) => html`
  <nav class="trail" aria-label="Where this is">
    <ol>
      ${steps.map(({ label, href }) => html`<li key=${href}><a href=${href}>${label}</a></li>`)}
    </ol>
  </nav>
`;
