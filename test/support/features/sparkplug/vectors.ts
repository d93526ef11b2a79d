import { readFileSync } from 'node:fs';

/** Time of the first birth in the vectors, in epoch ms. Data follows each second. */
export const T0 = 1_748_736_000_000;

/** Time between the first and the second births in the vectors, in ms. */
export const LATER = 3_600_000;

/** Messages that another implementation encoded: see `test/vectors/sparkplug.py`. */
const VECTORS: Record<string, string | string[]> = JSON.parse(
  readFileSync(new URL('../../../vectors/sparkplug.json', import.meta.url), 'utf8'),
);

/** @param index for names with several messages */
export function vector(name: string, index: number = 0): Buffer {
  const hex = [VECTORS[name]].flat()[index];
  if (hex === undefined) throw new Error(`there is no vector ${name} ${index}`);
  return Buffer.from(hex, 'hex');
}
