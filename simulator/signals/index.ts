import type { Random } from '../random.ts';

export interface Signal {
  type: string;
  /** registered for SenML (RFC 8428, section 12.1) */
  unit: string;
  range: [number, number];
  /**
   * returns a function that returns one value per measurement. The values depend only on the random numbers and the interval, not on the
   * time of day. `device` returns a generator of the random numbers that all sensors of a device share
   */
  create: (random: Random, intervalMs: number, device: () => Random) => () => number;
}
