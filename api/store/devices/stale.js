/** An index row that its table contradicts is removed once the birth that wrote it must have ended, in ms. */
const STALE_AFTER_MS = 600_000;

/** @param {{ writtenAt: number }} entry epoch ms @param {number} now epoch ms */
export const isOldEnough = ({ writtenAt }, now) => now - writtenAt >= STALE_AFTER_MS;
