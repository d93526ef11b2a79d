/** Sequence numbers run from 0 to 255 and begin anew (tck-id-payloads-sequence-num-incrementing). */
const NUMBERS = 256;

/**
 * Follows the sequence numbers of one edge node: all its births, data and deaths of devices are counted together, in
 * the order in which it publishes them. A broker keeps that order for a connection, so nothing is waited for: a number
 * that is not the next one means that messages were lost (tck-id-operational-behavior-host-reordering-start with a
 * timeout of 0).
 */
export function createSequence() {
  /** @type {number | null} null: any number may come next, since none is known yet */
  let next = null;

  return {
    /**
     * @param {number | null} seq of an NBIRTH, which begins anew; 0 by the specification (tck-id-payloads-sequence-num-zero-nbirth)
     */
    begin(seq) {
      next = ((seq ?? 0) + 1) % NUMBERS;
    },

    /**
     * @param {number | null} seq of any other message; null: it has none
     * @param {boolean} again whether the broker has sent this message before: its number may have been counted then
     * @returns {boolean} false: something is missing before it
     */
    follows(seq, again) {
      if (seq === null || (again && seq !== next)) return true;
      const inOrder = next === null || seq === next;
      next = (seq + 1) % NUMBERS;
      return inOrder;
    },
  };
}

/** @typedef {ReturnType<typeof createSequence>} Sequence */
