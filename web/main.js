import { html, render } from 'htm/preact';
import { createClient } from './api/client.js';
import { App } from './app.js';
import { routeOf } from './routes.js';
import { createClock, datedFetch } from './state/clock.js';
import { ServicesContext } from './state/hooks.js';
import { createVocabulary } from './state/lists.js';
import { createLive } from './state/live.js';
import { createPreferences } from './state/preferences.js';
import { createRouter } from './state/router.js';
import { createSession, knownFetch } from './state/session.js';
import { createThresholdMemory } from './state/thresholds.js';
import { createViews } from './views/load.js';

/** The modules of the other views are fetched this long after the first view, in ms. */
const OTHERS_AFTER_MS = 5000;

const views = createViews();
const clock = createClock();
const ask = datedFetch((...request) => fetch(...request), clock);
const session = createSession({ fetch: ask, clock });
const services = {
  client: createClient({ fetch: knownFetch(ask, session) }),
  session,
  live: createLive({
    EventSource,
    requestFrame: (run) => requestAnimationFrame(run),
    onRefused: session.refresh,
    isHidden: () => document.hidden,
  }),
  router: createRouter({ window }),
  preferences: createPreferences({ storage: localStorage, root: document.documentElement }),
  thresholds: createThresholdMemory({ storage: localStorage }),
  vocabulary: createVocabulary(),
  clock,
};

// The page names these modules, so the browser fetches them already. A failure is shown in place of the view.
await Promise.all([views.load(routeOf(location.pathname).view).catch(() => {}), session.refresh()]);

const root = document.getElementById('app');
if (root) render(html`<${ServicesContext.Provider} value=${services}><${App} views=${views} /><//>`, root);
setTimeout(() => views.loadOthers(), OTHERS_AFTER_MS);
