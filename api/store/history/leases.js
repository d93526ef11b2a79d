/** Seconds after which the lease of a process that died is free again. */
export const LEASE_SECONDS = 60;

const TAKE = {
  name: 'take_lease',
  cql: `INSERT INTO pack_lease (grp, owner) VALUES (?, ?) IF NOT EXISTS USING TTL ${LEASE_SECONDS}`,
};
const RENEW = {
  name: 'renew_lease',
  cql: `UPDATE pack_lease USING TTL ${LEASE_SECONDS} SET owner = ? WHERE grp = ? IF owner = ?`,
};
const RELEASE = { name: 'release_lease', cql: 'DELETE FROM pack_lease WHERE grp = ? IF owner = ?' };

/**
 * Who packs a group, by lightweight transactions within the data centre.
 *
 * @param {import('../session.js').Session} session
 */
export function createPackLeases(session) {
  return {
    /** @param {number} group @param {string} owner @returns {Promise<boolean>} false: somebody else has it */
    async take(group, owner) {
      const row = await session.one(TAKE, [group, owner]);
      // The driver may have repeated what had been applied already.
      return row?.['[applied]'] === true || row?.['owner'] === owner;
    },

    /** @param {number} group @param {string} owner @returns {Promise<boolean>} false: it is not ours any more */
    renew: async (group, owner) => (await session.one(RENEW, [owner, group, owner]))?.['[applied]'] === true,

    /** @param {number} group @param {string} owner */
    release: (group, owner) => session.write(RELEASE, [group, owner]),
  };
}

/** @typedef {ReturnType<typeof createPackLeases>} PackLeases */
