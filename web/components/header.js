import { html } from 'htm/preact';
import { useObservable, useParts } from '../state/hooks.js';
import { Choice } from './choice.js';
import { Connection } from './connection.js';
import { Logo } from './logo.js';

const THEMES = [
  { value: 'auto', label: 'Auto', title: 'As the system says' },
  { value: 'light', label: 'Light' },
  { value: 'dark', label: 'Dark' },
];
const ZONES = [
  { value: 'local', label: 'Local', title: 'Times as on the wall here' },
  { value: 'utc', label: 'UTC' },
];

/** Name, state of the connection, and what a reader may choose. */
export function Header() {
  const { preferences } = useParts();
  const { theme, zone } = useObservable(preferences);
  return html`
    <header class="header">
      <div class="header-inner">
        <a class="brand" href="/"><${Logo} />Millrace</a>
        <${Connection} />
        <div class="header-choices">
          <${Choice}
            legend="Time zone"
            options=${ZONES}
            value=${zone}
            onChange=${(/** @type {any} */ next) => preferences.change({ zone: next })}
          />
          <${Choice}
            legend="Theme"
            options=${THEMES}
            value=${theme}
            onChange=${(/** @type {any} */ next) => preferences.change({ theme: next })}
          />
        </div>
      </div>
    </header>
  `;
}
