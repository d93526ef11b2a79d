/** @typedef {import('../../live.js').Change} Change */

/** Changes that a reader has not been told yet: of each sensor the newest alone, so there are never more than sensors. */
export function createPending() {
  /** @type {Map<string, Change>} */
  const newest = new Map();

  return {
    /** @param {Change} change */
    add(change) {
      const key = `${change.device_id}/${change.sensor_id}`;
      const known = newest.get(key);
      if (!known || Number(change.ts) >= Number(known.ts)) newest.set(key, change);
    },

    /**
     * Forgets what a reader is told by a snapshot, so that nothing older follows it.
     *
     * @param {import('../../store/fleet/index.js').LatestRow[]} rows
     */
    forget(rows) {
      for (const { deviceId, id, ts, value } of rows) {
        const key = `${deviceId}/${id}`;
        const known = newest.get(key);
        if (!known || ts === null) continue;
        const older = Number(known.ts) < ts || (known.ts === ts && Object.is(known.value, value));
        if (older) newest.delete(key);
      }
    },

    /** @param {number} most @returns {Change[]} that many, which are forgotten here */
    take(most) {
      const taken = [];
      for (const [key, change] of newest) {
        if (taken.length === most) break;
        taken.push(change);
        newest.delete(key);
      }
      return taken;
    },

    get size() {
      return newest.size;
    },
  };
}

/** @typedef {ReturnType<typeof createPending>} Pending */
