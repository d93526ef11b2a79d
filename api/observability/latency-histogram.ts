/** Number of buckets per doubling of the latency. A bucket is 4.4 % wide, so a percentile is accurate within 2.2 %. */
const PER_DOUBLING = 16;

/** Longest latency that the histogram distinguishes, in µs. A longer latency counts as this latency. */
const LONGEST_US = 600_000_000;

const bucketOf = (/** @type {number} */ us) =>
  Math.floor(Math.log2(Math.min(LONGEST_US, Math.max(1, us))) * PER_DOUBLING);

/** Number of buckets. Bucket b starts at 2^(b / 16) µs. */
export const BUCKETS = bucketOf(LONGEST_US) + 1;

/** Returns the middle of a bucket. @param {number} bucket @returns {number} ms */
const msOf = (bucket) => 2 ** ((bucket + 0.5) / PER_DOUBLING) / 1000;

/**
 * Pairs of a bucket and its count, for all buckets that are not empty. The counts of several processes can be added up.
 *
 * @typedef {Array<[bucket: number, count: number]>} BucketCounts
 */

/** A latency histogram with exponential buckets. */
export class LatencyHistogram {
  #counts = new Float64Array(BUCKETS);
  #total = 0;

  /** Counts one latency. @param {number} ms */
  record(ms) {
    this.#count(bucketOf(ms * 1000), 1);
  }

  /** Adds the counts of another histogram. @param {BucketCounts} others */
  add(others) {
    for (const [bucket, more] of others) this.#count(bucket, more);
  }

  /** Removes all counts. */
  reset() {
    this.#counts.fill(0);
    this.#total = 0;
  }

  /** Lists the counts of all buckets that are not empty. @returns {BucketCounts} */
  list() {
    return [...this.#counts].flatMap((count, bucket) => (count > 0 ? [[bucket, count]] : []));
  }

  /** Computes a percentile. @param {number} percent 0 to 100 @returns {number | null} ms; null: the histogram is empty */
  percentile(percent) {
    const rank = Math.ceil((this.#total * percent) / 100);
    let passed = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      passed += count;
      if (count > 0 && passed >= rank) return msOf(bucket);
    }
    return null;
  }

  /** @param {number} bucket @param {number} count */
  #count(bucket, count) {
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.#total += count;
  }
}
