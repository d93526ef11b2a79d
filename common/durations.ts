const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, y: 365 * 86_400_000 };

/** Reads a number with its unit: `500ms 1s 5m 1h 30d 1y`; a year has 365 days. @returns ms; null: the text is no duration */
export function parseDuration(text: string): number | null {
  const match = /^(\d+(?:\.\d+)?(?:e\d+)?)(ms|s|m|h|d|y)$/.exec(text.trim());
  if (!match) return null;
  const ms = Number(match[1]) * UNIT_MS[match[2] as keyof typeof UNIT_MS];
  return Number.isFinite(ms) ? ms : null;
}

/** In the largest unit that gives a whole number. */
export function durationText(ms: number): string {
  const [unit, size] = Object.entries(UNIT_MS).findLast(([, size]) => ms >= size && ms % size === 0) ?? [
    'ms',
    1,
  ];
  return `${ms / size}${unit}`;
}

/** In ms: 24.8 days. A Node.js timer with a longer delay fires at once. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The delay may be longer than the longest Node.js timer. @returns cancels the call */
export function callAfter(ms: number, callback: () => void): () => void {
  let timer: NodeJS.Timeout | undefined;
  const wait = (left: number) => {
    timer =
      left > LONGEST_TIMER_MS
        ? setTimeout(() => wait(left - LONGEST_TIMER_MS), LONGEST_TIMER_MS)
        : setTimeout(callback, left);
  };
  wait(ms);
  return () => clearTimeout(timer);
}
