import { groupOf } from '../../../schema/ids.js';

/**
 * Takes devices out of the registry. A process that has a device in its cache goes on for up to ten minutes; this one
 * forgets it at once.
 *
 * @param {object} parts
 * @param {import('./index.js').Registry} parts.registry
 * @param {import('../../store/registry/retirement.js').RetirementStore} parts.store
 * @param {number} parts.groups
 * @param {() => number} parts.clock epoch ms
 */
export function createRetirement({ registry, store, groups, clock }) {
  return {
    /**
     * @param {import('../../../schema/ids.js').Identity} identity
     * @returns {Promise<boolean>} when it is gone; false: nobody has registered it
     * @throws {import('../../../common/errors.js').MillraceError} `unavailable`: doing it again finishes it
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
