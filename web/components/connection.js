import { html } from 'htm/preact';
import { useObservable, useParts } from '../state/hooks.js';

const WORDS = {
  live: { label: 'Live', title: 'Values change as they are committed' },
  connecting: { label: 'Connecting', title: 'Waiting for the first word from the server' },
  reconnecting: {
    label: 'Reconnecting',
    title: 'The connection is lost; what is shown may be old. It mends itself',
  },
};

/** Whether what is shown changes by itself, in words. */
export function Connection() {
  const { live } = useParts();
  const status = useObservable(live.status);
  const { label, title } = WORDS[status];
  return html`<p class="connection" data-status=${status} role="status" title=${title}>${label}</p>`;
}
