/**
 * Counts the increments of a Prometheus counter. The counter gets the sum at each scrape. An increment of the counter itself
 * would build a text of its labels each time.
 */
export class FastCounter {
  #count = 0;

  /** @param {number} count */
  add(count) {
    this.#count += count;
  }

  /** @returns {number} sum of the increments since the last call */
  take() {
    const count = this.#count;
    this.#count = 0;
    return count;
  }
}

/**
 * A Prometheus histogram without labels, for values of each message. The histogram of prom-client creates a function and three
 * objects for each value, and finds the bucket by the text of its bound. This histogram only adds to two numbers.
 */
export class FastHistogram {
  type = 'histogram';
  aggregator = 'sum';
  #bounds;
  /** Number of values in each bucket. The last bucket has the values above all bounds. */
  #counts;
  #sum = 0;

  /** @param {{ name: string, help: string, buckets: number[] }} options `buckets`: upper bounds, ascending */
  constructor({ name, help, buckets }) {
    this.name = name;
    this.help = help;
    this.#bounds = buckets;
    this.#counts = new Float64Array(buckets.length + 1);
  }

  /** @param {number} value finite */
  observe(value) {
    let bucket = 0;
    while (value > /** @type {number} */ (this.#bounds[bucket])) bucket++;
    this.#counts[bucket] = /** @type {number} */ (this.#counts[bucket]) + 1;
    this.#sum += value;
  }

  /** Returns the values in the form that a registry of prom-client expects. */
  async get() {
    const { name, help, type, aggregator } = this;
    let count = 0;
    const buckets = [...this.#bounds, '+Inf'].map((le, bucket) => {
      count += /** @type {number} */ (this.#counts[bucket]);
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
