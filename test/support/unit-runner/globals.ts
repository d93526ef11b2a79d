/**
 * Replaces `@jest/globals` in the runner of the unit tests, with packages of jest itself. Jest would load every module again for every
 * test file, which costs a second per file. This runner needs milliseconds.
 */
import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { getState } from 'jest-circus';
import { ModuleMocker } from 'jest-mock';

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';
export { jestExpect as expect };

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({
  config: { rootDir: process.cwd(), fakeTimers: {} } as never,
  global: globalThis,
});

const RUN = {
  getSeed: () => getState().seed,
  setTimeout(ms: number) {
    getState().testTimeout = ms;
  },
};

/** `jest.fn`, `jest.spyOn`, `jest.useFakeTimers` and the like. Mocks of modules are not supported. */
export const jest = new Proxy({} as Record<string, unknown>, {
  get(_, name) {
    for (const part of [mocker, timers, RUN]) {
      const member = Reflect.get(part, name);
      if (typeof member === 'function') return member.bind(part);
    }
    throw new Error(`This runner has no jest.${String(name)}.`);
  },
});

export function restoreGlobals() {
  timers.useRealTimers();
  mocker.restoreAllMocks();
}
