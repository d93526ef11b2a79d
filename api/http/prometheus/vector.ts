import { MillraceError } from '../../../common/errors.js';
import { orderOf } from '../aligned-answers.js';
import { cutRange } from '../parameters.js';
import { NAME_LABEL } from './expression.js';
import { labelsOf, selectMatching } from './labels.js';
import { aggregateSeries } from './series-aggregation.js';

/** @import { RouteDeps } from '../api.js' */
/** @import { Expression, Labels } from './expression.js' */
/** @import { Windows } from './windows.js' */

/** Limit of the series of one answer. */
export const MAX_SERIES = 10_000;

/** Limit of the bins of one series. They take about 100 bytes each. */
const MAX_BINS = 100_000;

/** Limit of the bins of all series of one answer, and of the additions of these bins to windows. */
const MAX_CELLS = 1_000_000;

/** A series with at least one value. @typedef {{ labels: Labels, values: Array<number | null> }} Series `values`: one for each window */

/**
 * Evaluates an expression.
 *
 * @param {Pick<RouteDeps, 'store' | 'groups' | 'reading' | 'clock' | 'historyDays' | 'maxClockSkewMs'>} deps
 * @param {Expression} expression
 * @param {{ windows: Windows, signal: AbortSignal }} options `signal` aborts when the client disconnects
 * @returns {AsyncGenerator<Series, void>} series in the order of their devices and sensors
 * @throws {MillraceError} `query_too_large`
 */
export async function* evaluate(deps, expression, { windows, signal }) {
  const { matchers, aggregate, group } = expression;
  const range = cutRange(windows.range, deps);
  if (range.from >= range.to) return;
  const selected = await selectMatching(deps, [matchers], { limit: MAX_SERIES, to: range.to, signal });
  if (windows.bins > MAX_BINS || selected.length * Math.max(windows.bins, windows.additions) > MAX_CELLS) {
    throw new MillraceError(
      'query_too_large',
      `The query has ${selected.length} series with ${windows.bins} bins each; the limits are ${MAX_BINS} bins of a series, and ${MAX_CELLS} in all, counted for each window. Select fewer series, a shorter range, a longer step or a shorter window.`,
    );
  }
  selected.sort(orderOf('sensor'));
  /** @type {Map<string, { labels: Labels, columns: Array<Array<number | null>> }>} */
  const groups = new Map();
  for await (const { sensor, bins } of deps.reading.aligned(selected, range, {
    grid: windows.grid(),
    signal,
  })) {
    const values = windows.valuesOf(bins, aggregate);
    if (values.every((value) => value === null)) continue;
    const labels = shownLabels(labelsOf(sensor.row), expression);
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

/** @param {Labels} labels @param {Expression} expression @returns {Labels} the labels that a series of the result has */
function shownLabels(labels, { group, keepsName }) {
  const isShown = (/** @type {string} */ label) =>
    (keepsName || label !== NAME_LABEL) && (group === null || group.labels.includes(label));
  return Object.fromEntries(Object.entries(labels).filter(([label]) => isShown(label)));
}
