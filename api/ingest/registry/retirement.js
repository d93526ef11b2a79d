import { groupOf } from '../../../schema/ids.js';

/** @import { MillraceError } from '../../../common/errors.js' */
/** @import { Identity } from '../../../schema/ids.js' */
/** @import { RetirementStore } from '../../store/registry/retirement.js' */
/** @import { Registry } from './index.js' */

/**
 * Takes devices out of the registry. A process that has a device in its cache goes on for up to ten minutes; this one
 * forgets it at once.
 *
 * @param {object} deps
 * @param {Registry} deps.registry
 * @param {RetirementStore} deps.store
 * @param {number} deps.groups
 * @param {() => number} deps.clock epoch ms
 */
export function createRetirement({ registry, store, groups, clock }) {
  return {
    /**
     * @param {Identity} identity
     * @returns {Promise<boolean>} when it is gone; false: nobody has registered it
     * @throws {MillraceError} `unavailable`: doing it again finishes it
     */
    retire: ({ id, bytes }) =>
      registry.inTurn(id, async () => {
        try {
          const done = await store.retire({ group: groupOf(bytes, groups), bytes }, clock());
          if (done) registry.uncountDevice();
          return done;
        } finally {
          registry.cache.forget(id);
        }
      }),
  };
}

/** @typedef {ReturnType<typeof createRetirement>} Retirement */
