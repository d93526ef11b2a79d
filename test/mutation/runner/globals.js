/**
 * Stands in for `@jest/globals` in the mutation runner. The parts are jest's own packages. Jest itself would load every
 * module again for every test file, which costs a second per file; this runner needs milliseconds.
 */
import { jestExpect } from '@jest/expect';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

export { afterAll, afterEach, beforeAll, beforeEach, describe, it, test } from 'jest-circus';
export { jestExpect as expect };

const mocker = new ModuleMocker(globalThis);
const timers = new ModernFakeTimers({
  config: /** @type {any} */ ({ rootDir: process.cwd(), fakeTimers: {} }),
  global: globalThis,
});

/** Jest draws a seed for each run; here mutants are compared, so it stays the same. */
const RUN = { getSeed: () => 1 };

/** `jest.fn`, `jest.spyOn`, `jest.useFakeTimers` and the like. Mocks of modules do not exist here. */
export const jest = new Proxy(/** @type {Record<string, unknown>} */ ({}), {
  get(_, name) {
    for (const part of [mocker, timers, RUN]) {
      const member = Reflect.get(part, name);
      if (typeof member === 'function') return member.bind(part);
    }
    throw new Error(`The mutation runner has no jest.${String(name)}.`);
  },
});

/** Ends what a test file left behind: fake timers and spies. */
export function restoreGlobals() {
  timers.useRealTimers();
  mocker.restoreAllMocks();
}
