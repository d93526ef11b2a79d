import { afterAll, beforeAll } from '@jest/globals';
import type { Store } from '../../../api/store/index.ts';
import { connectDevice, type Device } from '../mqtt/device.ts';
import { startTestSystem, type TestSystem } from './index.ts';

/** For the tests of a file. The returned object gets its members when the system runs. */
export function useTestSystem(options?: Parameters<typeof startTestSystem>[0]) {
  const system = {} as TestSystem;
  beforeAll(async () => void Object.assign(system, await startTestSystem(options)));
  afterAll(() => system.stop?.());
  return system;
}

export function useDevice(system: TestSystem) {
  const device = {} as Device;
  beforeAll(async () => {
    Object.assign(device, await connectDevice(system));
    system.beforeStop(device.end);
  });
  return device;
}

export function useStore(system: TestSystem) {
  const store = {} as Store;
  beforeAll(async () => void Object.assign(store, await system.openStore()));
  return store;
}
