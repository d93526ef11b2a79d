import { html } from 'htm/preact';
import { Notice } from '../components/notice.js';

/** An address that names no view. */
export const NowhereView = () => html`
  <${Notice} title="There is nothing at this address">
    <p><a class="button" href="/">To the fleet</a></p>
  <//>
`;
