import { html, render } from 'htm/preact';
import { createClient } from '../api/client.js';
import { HeaderBar } from '../components/header.js';
import { createClock, datedFetch } from '../state/clock.js';
import { ServicesContext } from '../state/hooks.js';
import { createPreferences } from '../state/preferences.js';
import { createSession } from '../state/session.js';
import { Page } from './page.js';

/** @import { Services } from '../state/hooks.js' */

const clock = createClock();
const ask = datedFetch((...request) => fetch(...request), clock);
const session = createSession({ fetch: ask, clock });
/** As much as the header wants: nothing here is live. */
const services = /** @type {Services} */ ({
  client: createClient({ fetch: ask }),
  session,
  preferences: createPreferences({ storage: localStorage, root: document.documentElement }),
  clock,
});

/** @param {string} path @returns {Promise<any>} */
async function load(path) {
  const response = await ask(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response.json();
}

const root = /** @type {HTMLElement} */ (document.getElementById('docs'));
/** The way back is there whatever becomes of the documents. @param {any} content */
const show = (content) =>
  render(
    html`
      <${ServicesContext.Provider} value=${services}>
        <a class="skip" href="#main">Skip to the content</a>
        <${HeaderBar} view="docs" />
        ${content}
      <//>
    `,
    root,
  );

await session.refresh();
show(null);
try {
  const [openApi, asyncApi] = await Promise.all([load('/openapi.json'), load('/asyncapi.json')]);
  show(html`<${Page} openApi=${openApi} asyncApi=${asyncApi} />`);
  // The sections are there only now: a browser looked for the address's one before.
  document.getElementById(location.hash.slice(1))?.scrollIntoView();
} catch (error) {
  show(
    html`<main id="main"><p class="failed" role="alert">The documents could not be read (${String(error)}). Reload to try again.</p></main>`,
  );
}
