import { formatNumber } from '../../format.ts';

export const formatRate = (perSecond: number | null | undefined): string =>
  formatNumber(perSecond, perSecond && Math.abs(perSecond) < 10 && !Number.isInteger(perSecond) ? 1 : 0);

/** @returns the number without a unit */
export const formatMs = (ms: number | null | undefined): string =>
  formatNumber(ms, ms !== null && ms !== undefined && ms >= 100 ? 0 : 1);
