import { Problem } from '../api/problem.js';

/** @import { Route } from '../routes.js' */

/**
 * The module of each view, fetched when it is first shown. The page of a view preloads its modules: api/http/static.js has the same
 * list for the server, and a test compares the two.
 *
 * @type {Record<Route['view'], () => Promise<any>>}
 */
const MODULES = {
  fleet: () => import('./fleet.js').then(({ FleetView }) => FleetView),
  device: () => import('./device.js').then(({ DeviceView }) => DeviceView),
  sensor: () => import('./sensor.js').then(({ SensorView }) => SensorView),
  pipeline: () => import('./pipeline.js').then(({ PipelineView }) => PipelineView),
  'dead-letters': () => import('./dead-letters.js').then(({ DeadLettersView }) => DeadLettersView),
  'not-found': () => import('./not-found.js').then(({ NotFoundView }) => NotFoundView),
};

/** @typedef {Route['view']} ViewName */

/** Browsers throw a TypeError when a module cannot be fetched. @param {unknown} error @returns {unknown} */
const asProblem = (error) =>
  error instanceof TypeError
    ? new Problem({ title: 'The API cannot be reached', code: 'unreachable' })
    : error;

/** The views, each fetched once: the fleet does not wait for the modules of the charts. */
export function createViews() {
  /** @type {Map<ViewName, any>} */
  const loaded = new Map();

  /** @param {ViewName} name @returns {Promise<void>} @throws {Problem} `unreachable` */
  async function load(name) {
    if (loaded.has(name)) return;
    try {
      loaded.set(name, await MODULES[name]());
    } catch (error) {
      throw asProblem(error);
    }
  }

  return {
    load,
    /** @param {ViewName} name @returns {any} its component; undefined until it is loaded */
    get: (name) => loaded.get(name),

    /** Fetches the other views one after the other, so that the next click finds its view. */
    async loadOthers() {
      for (const name of /** @type {ViewName[]} */ (Object.keys(MODULES))) {
        // Nobody waits for it. A click on its link loads it again, and shows the problem.
        await load(name).catch(() => {});
      }
    },
  };
}

/** @typedef {ReturnType<typeof createViews>} Views */
