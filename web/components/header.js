import { html } from 'htm/preact';
import { useObservable, useParts } from '../state/hooks.js';
import { Choice } from './choice.js';
import { Connection } from './connection.js';
import { Logo } from './logo.js';

const SUN =
  'M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.85.85M11.75 11.75l.85.85M12.6 3.4l-.85.85M4.25 11.75l-.85.85M5 8a3 3 0 1 0 6 0 3 3 0 1 0-6 0';
const MOON = 'M13.2 9.9A5.7 5.7 0 0 1 6.1 2.8a5.7 5.7 0 1 0 7.1 7.1Z';
const SCREEN = 'M2.2 3h11.6v7.6H2.2ZM5.8 13.4h4.4M8 10.6v2.8';

const THEMES = [
  { value: 'auto', label: 'As the system says', icon: SCREEN },
  { value: 'light', label: 'Light', icon: SUN },
  { value: 'dark', label: 'Dark', icon: MOON },
];
const ZONES = [
  { value: 'local', label: 'Local', title: 'Times as on the wall here' },
  { value: 'utc', label: 'UTC' },
];

/** Name, state of the connection, the way to the documents, and what a reader may choose. */
export function Header() {
  const { preferences } = useParts();
  const { theme, zone } = useObservable(preferences);
  return html`
    <header class="header">
      <div class="header-inner">
        <a class="brand" href="/" aria-label="Millrace"><${Logo} /><span>Millrace</span></a>
        <${Connection} />
        <div class="header-choices">
          <a class="header-link" href="/docs" title="The interfaces, HTTP and MQTT" data-native>API</a>
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
