import { html } from 'htm/preact';
import { useObservable, useParts } from '../state/hooks.js';

/** Says what was done on the page before this one, until it is put away. */
export function Word() {
  const { router } = useParts();
  const { word, path, query, trail } = useObservable(router.place);
  if (!word) return null;
  const dismiss = () => router.go(`${path}?${query}`, { replace: true, trail });
  return html`
    <div class="word" role="status">
      <p>${word}</p>
      <button type="button" class="button quiet-button" onClick=${dismiss}>Dismiss</button>
    </div>
  `;
}
