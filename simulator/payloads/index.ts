import { encodePlainJson } from './plain-json.ts';
import { encodeSenml } from './senml.ts';

/** `ts` in epoch ms */
export type Sample = { ts: number; value: number };

export interface Series {
  name: string;
  unit?: string;
  samples: Sample[];
}

export const ENCODERS: Record<string, (series: Series[]) => string> = {
  senml: encodeSenml,
  json: encodePlainJson,
};

export const countSamples = (series: Series[]): number =>
  series.reduce((sum, { samples }) => sum + samples.length, 0);
