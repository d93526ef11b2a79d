/** Values of an attribute over time. Each value is valid from its `since` (epoch ms, a full hour; 0: always) until the next one. */
export class Timeline<T> {
  /** oldest first; neighbors differ */
  #spans: Array<{ since: number; value: T }> = [];

  /** Null: there is no value. */
  get newest(): T | null {
    return this.#spans.at(-1)?.value ?? null;
  }

  get isEmpty(): boolean {
    return this.#spans.length === 0;
  }

  /** Replaces all values from `since` on. @returns false: nothing changes */
  set(value: T, since: number): boolean {
    const kept = this.#spans.filter((span) => span.since < since);
    const last = kept.at(-1);
    if (last?.value !== value || !last) kept.push({ since, value });
    const isSame =
      kept.length === this.#spans.length &&
      kept.every((span, index) => {
        const old = this.#spans[index];
        return old?.since === span.since && old.value === span.value;
      });
    this.#spans = kept;
    return !isSame;
  }

  /** Null: there is no value at this time. */
  at(time: number): T | null {
    return this.#spans.findLast(({ since }) => since <= time)?.value ?? null;
  }

  /** The values in [from, to), clipped, oldest first. */
  *between(from: number, to: number): Generator<{ value: T; from: number; to: number }> {
    for (const [index, { since, value }] of this.#spans.entries()) {
      const end = Math.min(this.#spans[index + 1]?.since ?? Number.POSITIVE_INFINITY, to);
      const start = Math.max(since, from);
      if (start < end) yield { value, from: start, to: end };
    }
  }

  /** The values from `since` on, oldest first. */
  *values(since: number): Generator<T> {
    for (const { value } of this.between(since, Number.POSITIVE_INFINITY)) yield value;
  }
}
