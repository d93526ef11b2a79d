/** Buckets of a doubling: each is 4.4 % wide, so a percentile is right within 2.2 %. */
const PER_DOUBLING = 16;

/** Longest time that is told apart, in µs. */
const LONGEST_US = 600_000_000;

const bucketOf = (/** @type {number} */ us) =>
  Math.floor(Math.log2(Math.min(LONGEST_US, Math.max(1, us))) * PER_DOUBLING);

/** Bucket b holds times from 2^(b / 16) µs on. */
export const BUCKETS = bucketOf(LONGEST_US) + 1;

/** The middle of a bucket. @param {number} bucket @returns {number} ms */
const msOf = (bucket) => 2 ** ((bucket + 0.5) / PER_DOUBLING) / 1000;

/** How many times fell into which bucket, empty ones left out: those of several processes can be added. @typedef {Array<[bucket: number, count: number]>} BucketCounts */

/** Times, counted in buckets that grow with them. */
export function createLatencyCounts() {
  const counts = new Float64Array(BUCKETS);
  let total = 0;

  /** @param {number} bucket @param {number} count */
  function count(bucket, count) {
    counts[bucket] = (counts[bucket] ?? 0) + count;
    total += count;
  }

  return {
    /** @param {number} ms */
    record: (ms) => count(bucketOf(ms * 1000), 1),

    /** @param {BucketCounts} others */
    add(others) {
      for (const [bucket, more] of others) count(bucket, more);
    },

    reset() {
      counts.fill(0);
      total = 0;
    },

    /** @returns {BucketCounts} */
    list: () => [...counts].flatMap((count, bucket) => (count > 0 ? [[bucket, count]] : [])),

    /** @param {number} percent @returns {number | null} ms; null: nothing is counted */
    percentile(percent) {
      const rank = Math.ceil((total * percent) / 100);
      let passed = 0;
      for (const [bucket, count] of counts.entries()) {
        passed += count;
        if (count > 0 && passed >= rank) return msOf(bucket);
      }
      return null;
    },
  };
}
