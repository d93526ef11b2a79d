/** Counts of refused measurements by their codes. */
export type Codes = Record<string, number>;

export function addCodes(sum: Codes, codes: Codes) {
  for (const [code, count] of Object.entries(codes)) sum[code] = (sum[code] ?? 0) + count;
}

/** The most frequent code first. */
export const codesText = (codes: Codes): string =>
  Object.entries(codes)
    .sort(([, a], [, b]) => b - a)
    .map(([code, count]) => `${count} ${code}`)
    .join(', ');
