/** Findings of a kind that are named; the others are only counted. */
const NAMED = 10;

/**
 * What can be wrong, with what it means.
 *
 * @satisfies {Record<string, string>}
 */
export const KINDS = {
  missing: 'acknowledged, and not stored',
  differing: 'stored with a value that was not sent, or that an acknowledged one should have replaced',
  unknown: 'stored, and never sent by this ledger: another simulator may use the same names (--device)',
  latest: 'sensors whose latest value is not the newest of what is stored',
};

/** @typedef {keyof typeof KINDS} Kind */

/** @typedef {{ device: string, sensor: string, ts: number | null, message: string }} Finding `ts` in epoch ms */

/** Counts what is wrong, and keeps the first of each kind. */
export function createFindings() {
  /** @returns {{ count: number, first: Finding[] }} */
  const none = () => ({ count: 0, first: [] });
  /** @type {Record<Kind, ReturnType<typeof none>>} */
  const found = { missing: none(), differing: none(), unknown: none(), latest: none() };
  return {
    found,

    /** @param {Kind} kind @param {Finding} finding */
    add(kind, finding) {
      const { first } = found[kind];
      found[kind].count += 1;
      if (first.length < NAMED) first.push(finding);
    },

    /** @returns {number} of all kinds */
    total: () => Object.values(found).reduce((sum, { count }) => sum + count, 0),
  };
}

/** @typedef {ReturnType<typeof createFindings>} Findings */
