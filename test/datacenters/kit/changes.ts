import type { Json } from '../../support/json.ts';
import type { TestSystem } from '../../support/system/index.ts';

/** Follows `GET /changes` of a process, and collects the values of a device. */
export class ChangesReader {
  readonly values: Set<number> = new Set();
  #system;
  #device;
  #cursor: string | undefined;

  constructor(system: TestSystem, device: string) {
    this.#system = system;
    this.#device = device;
  }

  /** While a data center cannot be reached, the answer may be an error. Then the next call repeats the question. */
  async read() {
    const query = new URLSearchParams({ wait: '1', limit: '1000' });
    if (this.#cursor) query.set('since', this.#cursor);
    const response = await this.#system.fetch(`/changes?${query}`);
    const text = await response.text();
    if (response.status !== 200) return;
    for (const line of text.trim().split('\n')) {
      const { kind, device, sensors, cursor }: Json = JSON.parse(line);
      if (cursor) this.#cursor = cursor;
      if (kind !== 'batch' || device !== this.#device) continue;
      for (const { samples } of sensors) for (const [, value] of samples) this.values.add(value);
    }
  }
}
