import { html } from 'htm/preact';
import { useEffect, useState } from 'preact/hooks';
import { lengthOf } from '../chart/window.js';
import {
  decimalsFor,
  formatCount,
  formatDateTime,
  formatNumber,
  formatStep,
  formatTimeMs,
  formatUnit,
  formatZone,
} from '../format.js';
import { useObservable, useServices } from '../state/hooks.js';
import { keyOf } from '../state/live.js';
import { thresholdSideOf } from '../state/thresholds.js';
import { useQuery } from '../state/use-query.js';
import { ProblemNotice } from './notice.js';
import { Pager } from './pager.js';

/** @import { Shape } from '../chart/shape.js' */
/** @import { Thresholds } from '../state/thresholds.js' */
/** @import { Window } from '../chart/window.js' */

/**
 * The samples themselves, page by page.
 *
 * @param {object} props
 * @param {{ device_id: string, sensor_id: string }} props.sensor
 * @param {Window} props.window
 * @param {'asc' | 'desc'} props.order
 * @param {string | null} props.unit
 * @param {Thresholds} props.thresholds
 */
export function SampleTable({ sensor, window, order, unit, thresholds }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const pages = useSamplePages(sensor, window, order);
  const { items, loading, problem } = pages;
  const hasLines = thresholds.low !== null || thresholds.high !== null;
  const decimals = decimalsFor(items.map(({ value }) => value));

  if (problem) return html`<${ProblemNotice} problem=${problem} onRetry=${pages.reload} />`;
  if (items.length === 0) {
    return html`<p class="none">${loading ? 'Reading samples…' : 'No samples in this range.'}</p>`;
  }
  return html`
    <table class="samples raw" aria-busy=${loading}>
      <caption class="visually-hidden">Samples, ${order === 'desc' ? 'newest' : 'oldest'} first</caption>
      <thead>
        <tr>
          <th scope="col">Time ${formatZone(zone, Date.parse(items[0]?.ts ?? ''))}</th>
          <th scope="col" class="col-number">Value ${formatUnit(unit)}</th>
          ${hasLines ? html`<th scope="col">Threshold</th>` : html`<td></td>`}
        </tr>
      </thead>
      <tbody>
        ${items.map(({ ts, value }) => {
          const at = Date.parse(ts);
          return html`
            <tr key=${ts}>
              <td><time datetime=${ts}>${formatDateTime(at, zone)}<span class="milliseconds">${formatTimeMs(at, zone).slice(8)}</span></time></td>
              <td class="col-number">${formatNumber(value, decimals)}</td>
              <td><${OverThreshold} side=${thresholdSideOf(value, value, thresholds)} /></td>
            </tr>
          `;
        })}
      </tbody>
    </table>
    <${Pager}
      what="sample"
      shown=${items.length}
      isFirst=${pages.isFirst}
      number=${pages.number}
      onFirst=${pages.goFirst}
      onPrevious=${pages.goBack}
      onNext=${pages.goOn}
    />
  `;
}

/**
 * The points of a chart in figures, page by page.
 *
 * @param {object} props
 * @param {Shape} props.shape of bins
 * @param {'asc' | 'desc'} props.order
 * @param {string | null} props.unit
 * @param {Thresholds} props.thresholds
 */
export function BinTable({ shape, order, unit, thresholds }) {
  const { preferences } = useServices();
  const { zone } = useObservable(preferences);
  const [page, setPage] = useState(0);
  const count = shape.ts.length;
  // A live window moves on, and another one may have fewer pages.
  const shown = Math.min(page, Math.max(Math.ceil(count / PAGE_ROWS) - 1, 0));
  const ordered = order === 'asc' ? [...shape.ts.keys()] : [...shape.ts.keys()].reverse();
  const places = ordered.slice(shown * PAGE_ROWS, (shown + 1) * PAGE_ROWS);
  const decimals = decimalsFor(places.flatMap((at) => [shape.min[at] ?? 0, shape.max[at] ?? 0]));
  const written = formatUnit(unit);
  return html`
    <div class="table-scroll" tabindex="0" role="region" aria-label="Points of the chart">
      <table class="samples bins">
        <caption class="visually-hidden">Points of the chart, each of ${formatStep(shape.stepMs ?? 0)}</caption>
        <thead>
          <tr>
            <th scope="col">From ${formatZone(zone, shape.to)}</th>
            ${['Lowest', 'Average', 'Highest'].map(
              (label) => html`<th key=${label} scope="col" class="col-number">${label} ${written}</th>`,
            )}
            <th scope="col" class="col-number">Samples</th>
          </tr>
        </thead>
        <tbody>
          ${places.map((at) => html`<${BinRow} key=${shape.ts[at]} ...${{ shape, at, zone, decimals, thresholds }} />`)}
        </tbody>
      </table>
    </div>
    <${Pager}
      what="point"
      shown=${places.length}
      isFirst=${shown === 0}
      number=${shown + 1}
      onFirst=${() => setPage(0)}
      onPrevious=${shown === 0 ? null : () => setPage(shown - 1)}
      onNext=${(shown + 1) * PAGE_ROWS < count ? () => setPage(shown + 1) : null}
    />
  `;
}

/**
 * @param {{ shape: Shape, at: number, zone: 'local' | 'utc', decimals: number,
 *   thresholds: Thresholds }} props
 */
function BinRow({ shape, at, zone, decimals, thresholds }) {
  const [ts = 0, min = 0, max = 0] = [shape.ts[at], shape.min[at], shape.max[at]];
  return html`
    <tr>
      <td>
        <time datetime=${new Date(ts).toISOString()}>${formatDateTime(ts, zone)}</time>
        ${' '}<${OverThreshold} side=${thresholdSideOf(min, max, thresholds)} />
      </td>
      <td class="col-number">${formatNumber(min, decimals)}</td>
      <td class="col-number">${formatNumber(shape.avg[at], decimals)}</td>
      <td class="col-number">${formatNumber(max, decimals)}</td>
      <td class="col-number">${formatCount(shape.count[at])}</td>
    </tr>
  `;
}

const WORDS = { low: '▼ low', high: '▲ high', both: '▲▼ both' };

/** Marks values over the reader's thresholds. @param {{ side: keyof typeof WORDS | null }} props */
const OverThreshold = ({ side }) => side && html`<span class="over-threshold">${WORDS[side]}</span> `;

const PAGE_ROWS = 25;
/** New samples join the first page no more often than this. */
const NEWS_MS = 1_000;

/**
 * @typedef {{ from: number, to: number | null }} Range epoch ms
 * @typedef {{ cursor: string, range: Range }} Step a page that is not the first; its cursor is good for its range only
 */

/**
 * The samples of a window, page by page. The first page of a live one goes on; the others stand still.
 *
 * @param {{ device_id: string, sensor_id: string }} sensor
 * @param {Window} window
 * @param {'asc' | 'desc'} order
 */
function useSamplePages(sensor, window, order) {
  const { client, live } = useServices();
  const { live: isLive, from, to } = window;
  const scope = JSON.stringify([keyOf(sensor), isLive ? lengthOf(window) : [from, to], order]);
  const [walk, setWalk] = useState({ scope, steps: /** @type {Step[]} */ ([]) });
  // Another window begins with its first page.
  const steps = walk.scope === scope ? walk.steps : [];
  const step = steps.at(-1) ?? null;

  const answer = useQuery(JSON.stringify([scope, step?.cursor]), async (signal) => {
    const range = step?.range ?? { from, to: isLive ? null : to };
    const query = { ...range, order, limit: PAGE_ROWS, cursor: step?.cursor };
    return { range, ...(await client.measurements(sensor.device_id, sensor.sensor_id, query, signal)) };
  });

  const goesOn = isLive && order === 'desc' && step === null;
  const { reload } = answer;
  useEffect(() => {
    if (!goesOn) return undefined;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const unsubscribe = live.subscribe(keyOf(sensor), () => {
      timer ??= setTimeout(() => {
        timer = undefined;
        reload();
      }, NEWS_MS);
    });
    return () => {
      clearTimeout(timer);
      unsubscribe();
    };
  }, [live, goesOn, scope, reload]);

  const { data } = answer;
  const next = data?.next ?? null;
  return {
    ...answer,
    items: data?.items ?? [],
    number: steps.length + 1,
    isFirst: steps.length === 0,
    goFirst: () => setWalk({ scope, steps: [] }),
    goBack: steps.length === 0 ? null : () => setWalk({ scope, steps: steps.slice(0, -1) }),
    goOn:
      data && next ? () => setWalk({ scope, steps: [...steps, { cursor: next, range: data.range }] }) : null,
  };
}
