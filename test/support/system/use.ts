import { afterAll, beforeAll } from '@jest/globals';
import { connectDevice } from '../mqtt/device.js';
import { startTestSystem } from './index.js';

/** @import { Store } from '../../../api/store/index.js' */
/** @import { Device } from '../mqtt/device.js' */
/** @import { TestSystem } from './index.js' */

/**
 * Starts a system for the tests of a file, and stops it after them. The returned object gets its members when the system runs.
 *
 * @param {Parameters<typeof startTestSystem>[0]} [options]
 */
export function useTestSystem(options) {
  const system = /** @type {TestSystem} */ ({});
  beforeAll(async () => void Object.assign(system, await startTestSystem(options)));
  afterAll(() => system.stop?.());
  return system;
}

/** Connects a device to a system of `useTestSystem`, until the system stops. @param {TestSystem} system */
export function useDevice(system) {
  const device = /** @type {Device} */ ({});
  beforeAll(async () => {
    Object.assign(device, await connectDevice(system));
    system.beforeStop(device.end);
  });
  return device;
}

/** Opens a store on the database of a system of `useTestSystem`, until the system stops. @param {TestSystem} system */
export function useStore(system) {
  const store = /** @type {Store} */ ({});
  beforeAll(async () => void Object.assign(store, await system.openStore()));
  return store;
}
