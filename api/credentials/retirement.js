/**
 * A device that is retired loses its rights first: while it is connected it would go on, and be registered anew.
 *
 * @param {object} parts
 * @param {import('../ingest/registry/retirement.js').Retirement['retire']} parts.retire
 * @param {import('./keeper.js').Keeper['forget']} parts.forget
 * @returns {import('../ingest/registry/retirement.js').Retirement['retire']} false: it was neither registered nor had it a credential
 */
export const withRights =
  ({ retire, forget }) =>
  async (device) => {
    const revoked = await forget(device);
    const retired = await retire(device);
    return revoked || retired;
  };
