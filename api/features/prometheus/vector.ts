import { MillraceError } from '../../../common/errors.ts';
import { cutRange } from '../../http/index.ts';
import { byNames, readAligned } from '../shared/selection/index.ts';
import { type Expression, type Labels, NAME_LABEL } from './expression.ts';
import { metricLabels, selectMatching } from './labels.ts';
import type { PrometheusDeps } from './requests.ts';
import { aggregateSeries } from './series-aggregation.ts';
import type { Windows } from './windows.ts';

export const MAX_SERIES = 10_000;

/** The limit for one series, at about 100 bytes each. */
const MAX_BINS = 100_000;

/** The limit for all series of one answer, and for the additions of these bins to windows. */
const MAX_CELLS = 1_000_000;

/** At least one value is not null. `values`: one for each window. */
export type Series = { labels: Labels; values: Array<number | null> };

/** In the order of devices and sensors. @throws `query_too_large` */
export async function* evaluate(
  deps: Pick<PrometheusDeps, 'store' | 'reading' | 'context'>,
  expression: Expression,
  { windows, signal }: { windows: Windows; signal: AbortSignal },
): AsyncGenerator<Series, void> {
  const { matchers, aggregate, group } = expression;
  const range = cutRange(windows.range, deps.context);
  if (range.from >= range.to) return;
  const selected = await selectMatching(deps, [matchers], { limit: MAX_SERIES, to: range.to, signal });
  if (windows.bins > MAX_BINS || selected.length * Math.max(windows.bins, windows.additions) > MAX_CELLS) {
    throw new MillraceError(
      'query_too_large',
      `The query has ${selected.length} series with ${windows.bins} bins each; the limits are ${MAX_BINS} bins of a series, and ${MAX_CELLS} in all, counted for each window. Select fewer series, a shorter range, a longer step or a shorter window.`,
    );
  }
  selected.sort(byNames);
  const groups: Map<string, { labels: Labels; columns: Array<Array<number | null>> }> = new Map();
  for await (const { sensor, bins } of readAligned(deps.reading, selected, range, {
    grid: windows.grid(),
    signal,
  })) {
    const values = windows.valuesOf(bins, aggregate);
    if (values.every((value) => value === null)) continue;
    const labels = shownLabels(metricLabels(sensor.row), expression);
    if (!group) yield { labels, values };
    else {
      const key = JSON.stringify(labels);
      const known = groups.get(key);
      if (known) known.columns.push(values);
      else groups.set(key, { labels, columns: [values] });
    }
  }
  if (!group) return;
  for (const { labels, columns } of groups.values())
    yield { labels, values: aggregateSeries(group.operator, columns) };
}

function shownLabels(labels: Labels, { group, keepsName }: Expression): Labels {
  const isShown = (label: string) =>
    (keepsName || label !== NAME_LABEL) && (group === null || group.labels.includes(label));
  return Object.fromEntries(Object.entries(labels).filter(([label]) => isShown(label)));
}
