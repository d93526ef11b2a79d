type Run = { for_ms?: number | undefined; for_samples?: number | undefined };

type Threshold = Run & { kind: 'above' | 'below' | 'rate'; limit: number; clear?: number | undefined };

type Band = Run & { kind: 'outside'; limit: [number, number]; clear?: [number, number] | undefined };

type Absence = { kind: 'absent'; for_ms?: number | undefined; intervals?: number | undefined };

/** As an alarm rule has it. */
type RuleCondition = Threshold | Band | Absence;

type TrueEpisode = { start: number; opened: number; cleared: number | null; peak: number | null };

function judge(condition: RuleCondition, value: number): { isBad: boolean; isGood: boolean } {
  if (condition.kind === 'outside') {
    const [low, high] = condition.limit;
    const [goodLow, goodHigh] = condition.clear ?? condition.limit;
    return { isBad: value < low || value > high, isGood: value >= goodLow && value <= goodHigh };
  }
  if (condition.kind === 'absent') throw new TypeError('an absence has no values');
  const { limit, clear = limit } = condition;
  return condition.kind === 'below'
    ? { isBad: value < limit, isGood: value >= clear }
    : { isBad: value > limit, isGood: value <= clear };
}

function worse(condition: RuleCondition, a: number, b: number): number {
  if (condition.kind === 'below') return Math.min(a, b);
  if (condition.kind !== 'outside') return Math.max(a, b);
  const [low, high] = condition.limit;
  const distance = (value: number) => Math.max(low - value, value - high);
  return distance(b) > distance(a) ? b : a;
}

/**
 * Computes the episodes of samples in the simplest way that follows a rule. It shares no code with the evaluation.
 * @param samples in order, one for each instant
 * @param options epoch ms; `intervalMs` of the sensor
 */
export function trueEpisodes(
  condition: RuleCondition,
  samples: Array<[ts: number, value: number]>,
  { since, now, intervalMs = 0 }: { since: number; now: number; intervalMs?: number },
): TrueEpisode[] {
  if (condition.kind === 'absent') {
    const silence = condition.for_ms ?? (condition.intervals ?? 3) * intervalMs;
    return samples.flatMap(([ts], index) => {
      const next = samples[index + 1]?.[0] ?? null;
      const end = next ?? now;
      const isLonger = next === null ? end >= ts + silence : next > ts + silence;
      return isLonger && ts >= since ? [{ start: ts, opened: ts + silence, cleared: next, peak: null }] : [];
    });
  }
  const signals =
    condition.kind === 'rate'
      ? samples.slice(1).map(([ts, value], index) => {
          const [before, last] = samples[index] as [number, number];
          return [ts, Math.abs((value - last) / ((ts - before) / 1000))] as [number, number];
        })
      : samples;
  const found: TrueEpisode[] = [];
  for (let index = 0; index < signals.length; index++) {
    const [start, first] = signals[index] as [number, number];
    if (!judge(condition, first).isBad) continue;
    let pending = index;
    while (pending < signals.length && judge(condition, Number(signals[pending]?.[1])).isBad) pending++;
    const opened = signals
      .slice(index, pending)
      .find(([ts], at) => ts - start >= (condition.for_ms ?? 0) && at + 1 >= (condition.for_samples ?? 1));
    let end = pending;
    while (opened && end < signals.length && !judge(condition, Number(signals[end]?.[1])).isGood) end++;
    if (opened) {
      found.push({
        start,
        opened: opened[0],
        cleared: signals[end]?.[0] ?? null,
        peak: signals
          .slice(index, end)
          .map(([, value]) => value)
          .reduce((a, b) => worse(condition, a, b)),
      });
    }
    index = end;
  }
  return found;
}
