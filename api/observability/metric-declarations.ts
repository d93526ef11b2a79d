import { Counter, Gauge, Histogram, type Metric, type Registry } from 'prom-client';
import { FastCounter, FastHistogram } from './hot-metrics.ts';

export class MetricDeclarations {
  #registry: Registry;
  #registers: Registry[];

  constructor(registry: Registry) {
    this.#registry = registry;
    this.#registers = [registry];
  }

  counter(name: string, help: string, ...labelNames: string[]) {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }

  histogram(name: string, help: string, buckets: number[], ...labelNames: string[]) {
    return new Histogram({ name, help, labelNames, buckets, registers: this.#registers });
  }

  gauge(name: string, help: string, ...labelNames: string[]) {
    return new Gauge({ name, help, labelNames, registers: this.#registers });
  }

  /** @param collect sets the gauge before each scrape */
  collectedGauge(name: string, help: string, labelNames: string[], collect: (gauge: Gauge<string>) => void) {
    new Gauge({
      name,
      help,
      labelNames,
      registers: this.#registers,
      collect() {
        collect(this);
      },
    });
  }

  /** Cheap enough for counts of each message. */
  fastCounter(name: string, help: string) {
    const count = new FastCounter();
    new Counter({
      name,
      help,
      registers: this.#registers,
      collect() {
        this.inc(count.take());
      },
    });
    return count;
  }

  /** A counter of results, whose most frequent result is a fast counter. */
  resultCounter(name: string, help: string, frequent: string) {
    const count = new FastCounter();
    const counter = new Counter({
      name,
      help,
      labelNames: ['result'],
      registers: this.#registers,
      collect() {
        this.inc({ result: frequent }, count.take());
      },
    });
    return { counter, count };
  }

  fastHistogram(name: string, help: string, buckets: number[]) {
    const fast = new FastHistogram({ name, help, buckets });
    // A registry calls only `get`, but its type lists the classes of prom-client.
    this.#registry.registerMetric(fast as unknown as Metric);
    return fast;
  }
}

/** If a series first appears with 1, Prometheus sees no increase. So each starts with 0. */
export function counted(
  counter: Counter<string>,
  label: string,
  values: string[],
  others: Record<string, string> = {},
) {
  for (const value of values) counter.inc({ ...others, [label]: value }, 0);
  return counter;
}
