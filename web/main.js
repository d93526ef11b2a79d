import { html, render } from 'htm/preact';
import { createClient } from './api/client.js';
import { datedFetch } from './api/dated-fetch.js';
import { App } from './app.js';
import { routeOf } from './routes.js';
import { createClock } from './state/clock.js';
import { PartsContext } from './state/hooks.js';
import { createLive } from './state/live.js';
import { createPreferences } from './state/preferences.js';
import { createRouter } from './state/router.js';
import { createSession, knownFetch } from './state/session.js';
import { createThresholdMemory } from './state/threshold-memory.js';
import { createVocabulary } from './state/vocabulary.js';
import { createViews } from './views/load.js';

/** Once the first view has stood for this long, in ms, the modules of the others are fetched. */
const OTHERS_AFTER_MS = 5000;

const clock = createClock();
const ask = datedFetch((...request) => fetch(...request), clock);
const session = createSession({ fetch: ask, clock });
const parts = {
  client: createClient({ fetch: knownFetch(ask, session) }),
  session,
  live: createLive({
    EventSource,
    requestFrame: (run) => requestAnimationFrame(run),
    onRefused: session.look,
    isHidden: () => document.hidden,
  }),
  router: createRouter({ window }),
  preferences: createPreferences({ storage: localStorage, root: document.documentElement }),
  thresholds: createThresholdMemory({ storage: localStorage }),
  vocabulary: createVocabulary(),
  views: createViews(),
  clock,
};

// Its modules are on their way already, since the page names them. What cannot be fetched is said by the view's own place.
await Promise.all([parts.views.load(routeOf(location.pathname).view).catch(() => {}), session.look()]);

const root = document.getElementById('app');
if (root) render(html`<${PartsContext.Provider} value=${parts}><${App} /><//>`, root);
setTimeout(() => parts.views.loadOthers(), OTHERS_AFTER_MS);
