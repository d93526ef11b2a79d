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
