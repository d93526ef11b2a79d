import { html } from 'htm/preact';

/** @param {{ value: unknown }} props JSON, or a text as it is */
export const Example = ({ value }) =>
  value !== undefined &&
  html`<pre class="example" tabindex="0">${typeof value === 'string' ? value : JSON.stringify(value, null, 2)}</pre>`;
