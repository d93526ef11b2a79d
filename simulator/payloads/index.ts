import { encodePlainJson } from './plain-json.ts';
import { encodeSenml } from './senml.ts';

/** `ts` in epoch ms */
export type Sample = { ts: number; value: number };

/** The samples of one sensor in a message. */
export interface Series {
  /** of the sensor */
  name: string;
  unit?: string;
  samples: Sample[];
}

/** Functions that encode a batch as the payload of a message. */
export const ENCODERS: Record<string, (series: Series[]) => string> = {
  senml: encodeSenml,
  json: encodePlainJson,
};

export const countSamples = (series: Series[]): number =>
  series.reduce((sum, { samples }) => sum + samples.length, 0);
