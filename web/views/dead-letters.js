import { html } from 'htm/preact';
import { useTitle } from '../state/use-title.js';

/** What was refused, and why. */
export function DeadLettersView() {
  useTitle('Dead letters');
  return html`<div class="title"><h1>Dead letters</h1></div>`;
}
