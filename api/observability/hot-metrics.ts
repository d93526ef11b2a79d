/** The counter of prom-client gets the sum at each scrape, because it builds a text of its labels at each increment. */
export class FastCounter {
  #count = 0;

  add(count: number) {
    this.#count += count;
  }

  /** Returns the sum of the increments since the last call. */
  take(): number {
    const count = this.#count;
    this.#count = 0;
    return count;
  }
}

/**
 * prom-client creates a function and three objects for each value, and finds the bucket by the text of its bound. This
 * only adds to two numbers.
 */
export class FastHistogram {
  declare name: string;
  declare help: string;

  type = 'histogram';
  aggregator = 'sum';
  #bounds;
  /** The last bucket has the values above all bounds. */
  #counts;
  #sum = 0;

  /** `buckets`: upper bounds, ascending */
  constructor({ name, help, buckets }: { name: string; help: string; buckets: number[] }) {
    this.name = name;
    this.help = help;
    this.#bounds = buckets;
    this.#counts = new Float64Array(buckets.length + 1);
  }

  /** The value must be finite. */
  observe(value: number) {
    let bucket = 0;
    while (value > (this.#bounds[bucket] as number)) bucket++;
    this.#counts[bucket] = (this.#counts[bucket] as number) + 1;
    this.#sum += value;
  }

  async get() {
    const { name, help, type, aggregator } = this;
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, bucket) => {
      count += this.#counts[bucket] as number;
      return { metricName: `${name}_bucket`, labels: { le }, value: count };
    });
    const sum = { metricName: `${name}_sum`, labels: {}, value: this.#sum };
    const values = [...buckets, sum, { metricName: `${name}_count`, labels: {}, value: count }];
    return { name, help, type, aggregator, values };
  }

  reset() {
    this.#counts.fill(0);
    this.#sum = 0;
  }
}

/** A bucket is 4.4 % wide, so a percentile is accurate within 2.2 %. */
const PER_DOUBLING = 16;

/** A longer latency counts as this latency. */
const LONGEST_US = 600_000_000;

const bucketOf = (us: number) => Math.floor(Math.log2(Math.min(LONGEST_US, Math.max(1, us))) * PER_DOUBLING);

/** Bucket b starts at 2^(b / 16) µs. */
export const BUCKETS = bucketOf(LONGEST_US) + 1;

/** Returns the middle of the bucket. */
const msOf = (bucket: number): number => 2 ** ((bucket + 0.5) / PER_DOUBLING) / 1000;

/** All buckets that are not empty. The counts of several processes can be added up. */
export type BucketCounts = Array<[bucket: number, count: number]>;

export class LatencyHistogram {
  #counts = new Float64Array(BUCKETS);
  #total = 0;

  record(ms: number) {
    this.#count(bucketOf(ms * 1000), 1);
  }

  add(others: BucketCounts) {
    for (const [bucket, more] of others) this.#count(bucket, more);
  }

  reset() {
    this.#counts.fill(0);
    this.#total = 0;
  }

  list(): BucketCounts {
    return [...this.#counts].flatMap((count, bucket) => (count > 0 ? [[bucket, count]] : []));
  }

  /** Percent from 0 to 100. Returns ms, or null for an empty histogram. */
  percentile(percent: number): number | null {
    const rank = Math.ceil((this.#total * percent) / 100);
    let passed = 0;
    for (const [bucket, count] of this.#counts.entries()) {
      passed += count;
      if (count > 0 && passed >= rank) return msOf(bucket);
    }
    return null;
  }

  #count(bucket: number, count: number) {
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + count;
    this.#total += count;
  }
}
