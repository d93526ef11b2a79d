import { createGroupCommit } from './group-commit.js';

/** `last_seen` is written at most once in this time and device, in ms. */
export const EVERY_MS = 60_000;

/**
 * When each device was last heard of: the time of receipt, written with a group commit of its own, since one batch
 * never holds two tables.
 *
 * @param {object} parts
 * @param {import('../store/registry/index.js').RegistryStore} parts.store
 * @param {import('../patience.js').Patience} parts.patience
 */
export function createLastSeen({ store, patience }) {
  const groups = createGroupCommit({
    /** @param {number} group @param {() => Array<{ device: Buffer, at: number }>} take */
    commit: (group, take) => patience.persist(() => store.writeLastSeen(group, take)),
    merge: (waiting, arriving) => (arriving.at > waiting.at ? arriving : waiting),
  });

  return {
    /**
     * @param {import('./registry/cache.js').Device} device
     * @param {number} at epoch ms of the receipt
     * @returns {Promise<void> | undefined} undefined: it was written less than a minute ago
     */
    note(device, at) {
      if (at - device.lastSeen < EVERY_MS) return undefined;
      device.lastSeen = at;
      return groups.add(device.group, device.id, { device: device.bytes, at });
    },
  };
}

/** @typedef {ReturnType<typeof createLastSeen>} LastSeen */
