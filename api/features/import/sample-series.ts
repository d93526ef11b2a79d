/** Samples of one sensor, in typed arrays outside the heap of V8. */
export class SampleSeries {
  #times = new Float64Array(64);
  #values = new Float64Array(64);
  #lines = new Uint32Array(64);
  length = 0;

  add(time: number, value: number, line: number) {
    if (this.length === this.#times.length) {
      this.#times = copied(this.#times, new Float64Array(2 * this.length));
      this.#values = copied(this.#values, new Float64Array(2 * this.length));
      this.#lines = copied(this.#lines, new Uint32Array(2 * this.length));
    }
    this.#times[this.length] = time;
    this.#values[this.length] = value;
    this.#lines[this.length++] = line;
  }

  get times() {
    return this.#times.subarray(0, this.length);
  }

  get values() {
    return this.#values.subarray(0, this.length);
  }

  get lines() {
    return this.#lines.subarray(0, this.length);
  }

  /** Lines whose time an earlier line has. */
  mergedLines(limit: number): Array<{ line: number; same_as: number }> {
    const first: Map<number, number> = new Map();
    const merged = [];
    for (let index = 0; index < this.length && merged.length < limit; index++) {
      const [time, line] = [Number(this.#times[index]), Number(this.#lines[index])];
      const earlier = first.get(time);
      if (earlier === undefined) first.set(time, line);
      else merged.push({ line, same_as: earlier });
    }
    return merged;
  }
}

function copied<T extends Float64Array | Uint32Array>(array: T, larger: T) {
  larger.set(array);
  return larger;
}
