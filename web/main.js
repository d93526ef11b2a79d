import { html, render } from 'htm/preact';
import { createClient } from './api/client.js';
import { datedFetch } from './api/dated-fetch.js';
import { App } from './app.js';
import { createClock } from './state/clock.js';
import { PartsContext } from './state/hooks.js';
import { createLive } from './state/live.js';
import { createPreferences } from './state/preferences.js';
import { createRouter } from './state/router.js';
import { createThresholdMemory } from './state/threshold-memory.js';
import { createVocabulary } from './state/vocabulary.js';

const clock = createClock();
const parts = {
  client: createClient({ fetch: datedFetch((...request) => fetch(...request), clock) }),
  live: createLive({
    EventSource,
    requestFrame: (run) => requestAnimationFrame(run),
    isHidden: () => document.hidden,
  }),
  router: createRouter({ window }),
  preferences: createPreferences({ storage: localStorage, root: document.documentElement }),
  thresholds: createThresholdMemory({ storage: localStorage }),
  vocabulary: createVocabulary(),
  clock,
};

const root = document.getElementById('app');
if (root) render(html`<${PartsContext.Provider} value=${parts}><${App} /><//>`, root);
