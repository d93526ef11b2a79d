import { setTimeout as sleep } from 'node:timers/promises';
import type { Latency } from '../../../simulator/meter.ts';

/**
 * An open loop: sends at a fixed rate, however long answers take. The latency of a call counts from the time at which it was due, so a
 * delay because of a busy machine is included.
 * @returns number of calls
 */
export async function pace({
  rate,
  forMs,
  send,
  flush = () => {},
  signal,
}: {
  rate: number;
  /** Infinity: until `signal` aborts */
  forMs: number;
  send: (intended: number) => void;
  /** called after all calls that were due together */
  flush?: () => void;
  signal?: AbortSignal;
}): Promise<number> {
  const began = performance.now();
  const total = Math.round((rate * forMs) / 1000);
  let sent = 0;
  while (sent < total && !signal?.aborted) {
    const due = Math.min(total, Math.floor(((performance.now() - began) * rate) / 1000) + 1);
    for (; sent < due; sent++) send(began + (sent * 1000) / rate);
    flush();
    await sleep(1);
  }
  return sent;
}

export type Latencies = { [K in keyof Latency]: number };
