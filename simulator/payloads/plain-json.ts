import { numberText } from '../numbers.ts';
import type { Series } from './index.ts';

/** An array of `{"sensor_id","ts","value"}` with `ts` in epoch milliseconds. */
export function encodePlainJson(series: Series[]): string {
  const records = series.flatMap(({ name, samples }) => {
    const id = JSON.stringify(name);
    return samples.map(({ ts, value }) => `{"sensor_id":${id},"ts":${ts},"value":${numberText(value)}}`);
  });
  return `[${records.join(',')}]`;
}
