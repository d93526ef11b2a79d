import { html } from 'htm/preact';
import { formatZone } from '../format.js';
import { routeOf } from '../routes.js';
import { useObservable, useParts } from '../state/hooks.js';
import { Choice } from './choice.js';
import { Connection } from './connection.js';
import { Logo } from './logo.js';
import { Navigation } from './navigation.js';
import { SignOut } from './sign-out.js';

const SUN =
  'M8 1.5v1.2M8 13.3v1.2M1.5 8h1.2M13.3 8h1.2M3.4 3.4l.85.85M11.75 11.75l.85.85M12.6 3.4l-.85.85M4.25 11.75l-.85.85M5 8a3 3 0 1 0 6 0 3 3 0 1 0-6 0';
const MOON = 'M13.2 9.9A5.7 5.7 0 0 1 6.1 2.8a5.7 5.7 0 1 0 7.1 7.1Z';
const SCREEN = 'M2.2 3h11.6v7.6H2.2ZM5.8 13.4h4.4M8 10.6v2.8';

const THEMES = [
  { value: 'auto', label: 'As the system says', icon: SCREEN },
  { value: 'light', label: 'Light', icon: SUN },
  { value: 'dark', label: 'Dark', icon: MOON },
];

/** The dashboard's: name, the views, state of the connection, and what a reader may choose. */
export function Header() {
  const { preferences, router } = useParts();
  const { zone } = useObservable(preferences);
  const { view } = routeOf(useObservable(router.place).path);
  return html`
    <${HeaderBar} view=${view} status=${html`<${Connection} />`}>
      <${Choice}
        legend="Times are shown in"
        options=${zones()}
        value=${zone}
        onChange=${(/** @type {any} */ next) => preferences.change({ zone: next })}
      />
    <//>
  `;
}

/**
 * What every page has on top: name, the views, and the theme.
 *
 * @param {object} props
 * @param {string} [props.view] the one that is shown; none: nothing is shown as yet
 * @param {any} [props.status]
 * @param {any} [props.children] further choices
 */
export function HeaderBar({ view, status, children }) {
  const { preferences } = useParts();
  const { theme } = useObservable(preferences);
  return html`
    <header class="header">
      <div class="header-inner">
        <a class="brand" href="/" aria-label="Millrace"><${Logo} /><span>Millrace</span></a>
        ${view && html`<${Navigation} view=${view} />`}
        ${status}
        <div class="header-choices">
          ${children}
          <${Choice}
            legend="Theme"
            options=${THEMES}
            value=${theme}
            onChange=${(/** @type {any} */ next) => preferences.change({ theme: next })}
          />
          <${SignOut} />
        </div>
      </div>
    </header>
  `;
}

/** "Local" alone does not say which zone that is. */
function zones() {
  const own = formatZone('local', Date.now());
  return [
    { value: 'local', label: 'Local', note: `(${own})`, title: `Times as on the wall here, which is ${own}` },
    { value: 'utc', label: 'UTC', title: 'Times in UTC' },
  ];
}
