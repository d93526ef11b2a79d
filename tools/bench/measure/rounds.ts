/** A round in which the host takes more of the CPU time is repeated. */
export const MAX_STEAL = 0.05;

/** After these repeats, the run with the least steal counts, and the table shows its steal. */
const MAX_REPEATS = 2;

/**
 * Every round measures each variant once, and every other round in the opposite order. So a slow change of the machine, or the effect of
 * one variant on the next, affects all variants.
 */
export async function alternate<R extends { steal: number; others: number }, Name extends string>({
  names,
  rounds,
  measure,
  onStatus = () => {},
}: {
  names: Name[];
  rounds: number;
  measure: (name: Name) => Promise<R>;
  onStatus?: (text: string) => void;
}): Promise<Round<Name, R>[]> {
  async function once(order: Name[], title: string): Promise<Round<Name, R>> {
    const results = {} as Record<Name, R>;
    for (const name of order) {
      onStatus(`${title}: ${name}`);
      results[name] = await measure(name);
    }
    const most = (key: 'steal' | 'others') => Math.max(...order.map((name) => results[name][key]));
    return { results, steal: most('steal'), others: most('others'), repeats: 0 };
  }

  const done: Round<Name, R>[] = [];
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? names : [...names].reverse();
    const title = `round ${round + 1} of ${rounds}`;
    let best = await once(order, title);
    for (let repeats = 1; repeats <= MAX_REPEATS && best.steal > MAX_STEAL; repeats++) {
      const again = await once(order, `${title}, again since the host took CPU away`);
      best = { ...(again.steal < best.steal ? again : best), repeats };
    }
    done.push(best);
  }
  return done;
}

export type Round<Name extends string, R> = {
  results: Record<Name, R>;
  steal: number;
  others: number;
  repeats: number;
};

/** The mean of the two middle numbers, if there are two; NaN for an empty list. */
export function median(numbers: number[]): number {
  const sorted = [...numbers].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = Number(sorted[middle]);
  return sorted.length % 2 === 1 ? upper : (Number(sorted[middle - 1]) + upper) / 2;
}

/** @param read returns a figure of one round, such as a ratio of two variants */
export const medianOf = <Name extends string, R>(
  rounds: Round<Name, R>[],
  read: (results: Record<Name, R>) => number,
): number => median(rounds.map(({ results }) => read(results)));
