/** The ranges that a chart offers; `value` stands in the address. */
export const RANGES = [
  { value: '1m', label: '1 min', ms: 60_000 },
  { value: '5m', label: '5 min', ms: 5 * 60_000 },
  { value: '15m', label: '15 min', ms: 15 * 60_000 },
  { value: '1h', label: '1 h', ms: 3_600_000 },
];

const USUAL = { value: '5m', label: '5 min', ms: 5 * 60_000 };

/**
 * @param {URLSearchParams} query `range`, and `to` where the chart does not end now
 * @returns {{ range: typeof USUAL, until: number | null }} `until` in epoch ms
 */
export function rangeOf(query) {
  const range = RANGES.find(({ value }) => value === query.get('range')) ?? USUAL;
  const to = Date.parse(query.get('to') ?? '');
  return { range, until: Number.isNaN(to) ? null : to };
}
