import './styles/base.css';
import './styles/controls.css';
import { render } from 'preact';
import { createClient } from './api/client.ts';
import { App, createViews } from './app.tsx';
import { createRouter, routeOf } from './routes.ts';
import { ServicesContext } from './state/hooks.ts';
import { createVocabulary } from './state/lists.ts';
import { createLive } from './state/live.ts';
import { createPreferences, createThresholdMemory } from './state/preferences.ts';
import { createClock, createSession, datedFetch, knownFetch } from './state/session.ts';

/** The modules of the other views are fetched this long after the first view, in ms. */
const OTHERS_AFTER_MS = 15_000;

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

/** Draws the view of the address. */
function start() {
  const root = document.getElementById('app');
  if (root)
    render(
      <ServicesContext.Provider value={services}>
        <App views={views} />
      </ServicesContext.Provider>,
      root,
    );
  setTimeout(() => views.loadOthers(), OTHERS_AFTER_MS);
}

// No await at the top level: the file of the view imports this one, and each would wait for the other. A view that cannot be fetched is
// shown as a problem.
void Promise.all([views.load(routeOf(location.pathname).view).catch(() => {}), session.refresh()]).then(
  start,
);
