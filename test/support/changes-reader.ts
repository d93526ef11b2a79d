import { entryOf } from '../../simulator/verify/ledger-parts.ts';
import type { Json } from './json.ts';

type Samples = { times: number[]; values: number[] };

/** Follows `GET /changes`, and collects all samples. */
export class ChangesReader {
  /** by device and sensor, in the order of the answers; a sample may come twice */
  readonly samples: Map<string, Map<string, Samples>> = new Map();
  #fetch;
  #cursor: string | undefined;

  /** @param fetch asks any process; the path is below /api/v1 */
  constructor(fetch: (path: string) => Promise<Response>) {
    this.#fetch = fetch;
  }

  /**
   * While the database cannot be reached, the answer may be an error. Then the next call repeats the question.
   * @returns number of new batches
   */
  async read(): Promise<number> {
    const query = new URLSearchParams({ wait: '1', limit: '1000' });
    if (this.#cursor) query.set('since', this.#cursor);
    const response = await this.#fetch(`/changes?${query}`);
    const text = await response.text();
    if (response.status !== 200) return 0;
    let batches = 0;
    for (const line of text.trim().split('\n')) {
      const { kind, device, sensors, cursor }: Json = JSON.parse(line);
      if (kind === 'batch') batches++;
      for (const { sensor, samples } of sensors ?? []) {
        const kept = this.samplesOf(device, sensor);
        for (const [ts, value] of samples) {
          kept.times.push(ts);
          kept.values.push(value);
        }
      }
      if (cursor) this.#cursor = cursor;
    }
    return batches;
  }

  samplesOf(device: string, sensor: string): Samples {
    const sensors = entryOf(this.samples, device, () => new Map());
    return entryOf(sensors, sensor, () => ({ times: [], values: [] }));
  }
}
