/**
 * Replaces `@jest/globals` in the mutation runner, with packages of jest itself. Jest would load every
 * module again for every test file, which costs a second per file. This runner needs milliseconds.
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

/** Jest draws a seed for each run. This runner compares mutants, so its seed is fixed. */
const RUN = { getSeed: () => 1 };

/** `jest.fn`, `jest.spyOn`, `jest.useFakeTimers` and the like. Mocks of modules are not supported. */
export const jest = new Proxy(/** @type {Record<string, unknown>} */ ({}), {
  get(_, name) {
    for (const part of [mocker, timers, RUN]) {
      const member = Reflect.get(part, name);
      if (typeof member === 'function') return member.bind(part);
    }
    throw new Error(`The mutation runner has no jest.${String(name)}.`);
  },
});

/** Removes fake timers and spies that a test file left. */
export function restoreGlobals() {
  timers.useRealTimers();
  mocker.restoreAllMocks();
}
