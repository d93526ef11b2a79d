/**
 * Notes of messages without measurements that their device was heard of; beside measurements that is written anyway.
 *
 * @param {object} parts
 * @param {import('../registry/index.js').Registry} parts.registry
 * @param {import('../latest-writer.js').LastSeen} parts.lastSeen
 */
export function createSightings({ registry, lastSeen }) {
  return {
    /** @param {import('../pipeline.js').Message} message @param {import('../../../schema/ids.js').Identity} identity */
    async note({ retained, receivedAt }, identity) {
      const device = registry.cache.peek(identity.id);
      if (device && !retained) await lastSeen.note(device, receivedAt);
    },
  };
}

/** @typedef {ReturnType<typeof createSightings>} Sightings */
