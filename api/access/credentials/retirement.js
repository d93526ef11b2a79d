/** @typedef {(device: import('../../../schema/ids.js').Identity) => Promise<boolean>} Retire */

/**
 * A device that is retired loses its rights first: while it is connected it would go on, and be registered anew.
 *
 * @param {object} parts
 * @param {Retire} parts.retire
 * @param {import('./credential-service.js').Keeper['forget']} parts.forget
 * @returns {Retire} false: it was neither registered nor had it a credential
 */
export const withRights =
  ({ retire, forget }) =>
  async (device) => {
    const revoked = await forget(device);
    const retired = await retire(device);
    return revoked || retired;
  };
