/** Rows of a few small columns that are read at once. */
const PAGE = 2000;

const DEVICES = {
  name: 'tally_devices',
  cql: 'SELECT state, last_seen, registered_at, sensors_at FROM device WHERE grp = ?',
  fetchSize: PAGE,
};
const SENSORS = {
  name: 'tally_sensors',
  cql: 'SELECT type, site, registered_at FROM sensor WHERE grp = ?',
  fetchSize: PAGE,
};

/**
 * @typedef {object} TalliedDevice
 * @property {string | null} state
 * @property {number | null} lastSeen epoch ms
 * @property {number} sensorsAt epoch ms of the last change of its sensors; 0 where none is known
 */

/**
 * What counting reads of a group: a page at a time, and only the columns that it looks at.
 *
 * @param {import('../session.js').Session} session
 */
export function createTally(session) {
  return {
    /** @param {number} group @returns {AsyncGenerator<TalliedDevice[]>} the devices that are registered */
    async *devices(group) {
      for await (const rows of session.pages(DEVICES, [group])) {
        yield rows
          .filter((row) => row['registered_at'])
          .map((row) => ({
            state: row['state'],
            lastSeen: row['last_seen']?.getTime() ?? null,
            sensorsAt: row['sensors_at']?.getTime() ?? 0,
          }));
      }
    },

    /** @param {number} group @returns {AsyncGenerator<Array<{ type: string | null, site: string | null }>>} the sensors that are registered */
    async *sensors(group) {
      for await (const rows of session.pages(SENSORS, [group])) {
        yield rows
          .filter((row) => row['registered_at'])
          .map((row) => ({ type: row['type'], site: row['site'] }));
      }
    },
  };
}

/** @typedef {ReturnType<typeof createTally>} Tally */
