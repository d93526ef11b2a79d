import type { Range } from './hours.ts';

export interface Grid {
  length: number;
  /** lower bound of the widths of all bins, in ms; of the wider bins, if bins of two widths alternate */
  narrowest: number;
  /** @param ts an instant of the range, in epoch ms */
  indexOf: (ts: number) => number;
  /** in epoch ms; may be before the range */
  startOf: (index: number) => number;
}

/** Bins begin at whole multiples of the width, in ms. @param shift ms by which the clock of the multiples is ahead of UTC */
export function uniformGrid(range: Range, width: number, shift: number = 0): Grid {
  const first = Math.floor((range.from + shift) / width);
  return {
    length: binsOf(range, width, shift),
    narrowest: width,
    indexOf: (ts) => Math.floor((ts + shift) / width) - first,
    startOf: (index) => (first + index) * width - shift,
  };
}

export const binsOf = ({ from, to }: Range, width: number, shift: number = 0): number =>
  Math.ceil((to + shift) / width) - Math.floor((from + shift) / width);
