import pLimit from 'p-limit';

/** @typedef {import('../../store/credentials.js').Credential} Credential */
/** @typedef {import('../../store/credentials.js').NewCredential} NewCredential */
/** @typedef {Omit<NewCredential, 'issuedAt' | 'changedAt'> & { issuedAt?: number }} Wanted */

/**
 * Changes credentials, each on the ground of what it is at that moment, whichever process changed it last: what another one made of
 * it in between is read, and decided upon, anew. So a revocation takes back what is rotated beside it, in whatever order they come,
 * and a rotation finds nothing to rotate any more. Every turn that is lost was won by somebody else.
 *
 * @param {object} parts
 * @param {Pick<import('../../store/credentials.js').CredentialStore, 'find' | 'replace'>} parts.store
 * @param {() => number} parts.clock epoch ms
 * @param {(deviceId: string) => Promise<void>} parts.onChange told of every credential that was good and is no more
 */
export function createChanges({ store, clock, onChange }) {
  // One after the other: transactions of one partition that meet hold each other up.
  const oneAtATime = pLimit(1);

  /** @param {Wanted} wanted @param {Credential | null} before @returns {NewCredential} */
  function dated(wanted, before) {
    // It tells one state of the row from the next, whatever the clocks of the processes say.
    const changedAt = Math.max(clock(), (before?.changedAt ?? 0) + 1);
    return { ...wanted, issuedAt: wanted.issuedAt ?? changedAt, changedAt };
  }

  /**
   * @param {Buffer} device the id's 16 bytes
   * @param {(before: Credential | null) => Wanted | null} decide what is to become of it; the same: nothing. Asked again, it may find
   *   its own doing: the driver repeats what was applied already, where the answer was lost
   * @returns {Promise<NewCredential | null>} what has become of it
   * @throws {import('../../../common/errors.js').MillraceError} `unavailable`: it may be done all the same
   */
  return async function change(device, decide) {
    let wasGood = false;
    const became = await oneAtATime(async () => {
      for (;;) {
        const before = await store.find(device);
        const wanted = decide(before);
        if (wanted === null || wanted === before) return before;
        if (before?.hash) wasGood = true;
        const next = dated(wanted, before);
        if (await store.replace(next, before)) return next;
      }
    });
    if (became && wasGood) await onChange(became.deviceId);
    return became;
  };
}
