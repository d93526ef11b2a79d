import { performance } from 'node:perf_hooks';

/** How long what was read is good for, in ms. An older one is never wrong: some hours more are looked for in both places. */
const KEPT_MS = 5000;

/**
 * How far groups are packed, not asked for anew by every reader.
 *
 * @param {Pick<import('../../store/index.js').Store['packProgress'], 'read'>} store
 * @returns {(group: number) => Promise<number>} epoch ms: every hour before it is packed, or has no data but late ones
 */
export function rememberPackedUntil(store) {
  /** @type {Map<number, { at: number, packedUntil: Promise<number> }>} */
  const groups = new Map();
  return (group) => {
    const now = performance.now();
    const known = groups.get(group);
    if (known && now - known.at < KEPT_MS) return known.packedUntil;
    const packedUntil = store.read(group).then((progress) => progress.packedUntil);
    const entry = { at: now, packedUntil };
    groups.set(group, entry);
    packedUntil.catch(() => {
      if (groups.get(group) === entry) groups.delete(group);
    });
    return packedUntil;
  };
}
