import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';

/** On most ways a view is there before this, in ms, and a word about it would only flicker. */
const SLOW_MS = 1000;

/** Stands where a view will be whose modules are on their way. */
export function Loading() {
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setSlow(true), SLOW_MS);
    return () => clearTimeout(timer);
  }, []);
  return isSlow && html`<p class="slow" role="status">This view is still on its way from the API.</p>`;
}
