import { useEffect, useState } from 'preact/hooks';
import { keyOf } from '../../api/stream/index.ts';
import type { Shape } from '../../chart/shape.ts';
import type { Window } from '../../chart/window.ts';
import { lengthOf } from '../../chart/window.ts';
import {
  decimalsFor,
  formatChange,
  formatCount,
  formatDateTime,
  formatDuration,
  formatNumber,
  formatStep,
  formatTimeMs,
  formatZone,
  NOTHING,
} from '../../format.ts';
import { OtherZone } from '../../kit/figure.tsx';
import { Pager } from '../../kit/list-controls.tsx';
import { ProblemNotice } from '../../kit/notice.tsx';
import { SampleMarks } from '../../kit/slots.tsx';
import { Table } from '../../kit/table.tsx';
import { useQuery, useServices } from '../../state/hooks.ts';
import type { StateNames } from '../../states.ts';
import type { Scale } from '../../units.ts';
import { toShown } from '../../units.ts';
import '../shared/tables.css';

/** Renders the table of samples in pages. Each row has the change and the time since the previous sample. */
export function SampleTable({
  sensor,
  window,
  order,
  scale,
  states,
  valueScale,
}: {
  sensor: { device_id: string; sensor_id: string };
  window: Window;
  order: 'asc' | 'desc';
  scale: Scale;
  /** state names; null: the values are numbers */
  states: StateNames | null;
  /** scale of the values; null: states or rates */
  valueScale: Scale | null;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const pages = useSamplePages(sensor, window, order);
  const { items, loading, problem } = pages;
  const rows = items.map(({ ts, value }) => ({ ts, at: Date.parse(ts), value: toShown(scale, value) }));
  const decimals = decimalsFor(rows.map(({ value }) => value));
  const head = rows[0]?.at ?? 0;

  if (problem) {
    const onRetry = problem.code === 'bad_cursor' ? pages.goFirst : pages.reload;
    return <ProblemNotice problem={problem} onRetry={onRetry} />;
  }
  if (items.length === 0) {
    return <p class="none">{loading ? 'Reading samples…' : 'No samples in this range.'}</p>;
  }
  const beforeOf = (index: number) => rows[order === 'desc' ? index + 1 : index - 1];
  return (
    <>
      <Table
        class="samples raw"
        caption={`Samples, ${order === 'desc' ? 'newest' : 'oldest'} first`}
        rows={rows.map((row, index) => ({ ...row, before: beforeOf(index) }))}
        keyOf={({ ts }) => ts}
        aria-busy={loading}
        columns={[
          {
            label: `Time ${formatZone(zone, head)}`,
            cell: ({ ts, at }) => (
              <>
                <time datetime={ts}>
                  {formatDateTime(at, zone)}
                  <span class="milliseconds">{formatTimeMs(at, zone).slice(8)}</span>
                </time>
                <OtherZone ts={at} head={head} />
              </>
            ),
          },
          {
            label: states ? 'State' : `Value ${scale.unit}`,
            class: 'number',
            cell: ({ value }) => (states ? states(value) : formatNumber(value, decimals)),
          },
          {
            label: states ? 'Changed' : 'Change',
            class: 'number col-change',
            cell: ({ value, before }) =>
              before ? changeText(value - before.value, decimals, states !== null) : NOTHING,
          },
          {
            label: 'After',
            class: 'number col-after',
            cell: ({ at, before }) => (before ? formatDuration(at - before.at) : NOTHING),
          },
          {
            label: 'Marks',
            isQuiet: true,
            cell: ({ value }) => <SampleMarks min={value} max={value} scale={valueScale} />,
          },
        ]}
      />
      <Pager
        what="sample"
        shown={items.length}
        isFirst={pages.isFirst}
        number={pages.number}
        onFirst={pages.goFirst}
        onPrevious={pages.goBack}
        onNext={pages.goOn}
      />
    </>
  );
}

function changeText(change: number, decimals: number, isState: boolean): string {
  if (isState) return change === 0 ? '' : 'yes';
  return formatChange(change, decimals);
}

export function BinTable({
  shape,
  order,
  unit,
  valueScale,
}: {
  shape: Shape;
  order: 'asc' | 'desc';
  unit: string;
  valueScale: Scale | null;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [page, setPage] = useState(0);
  const count = shape.ts.length;
  // A live window moves, and a new window may have fewer pages. So the page number is limited.
  const shown = Math.min(page, Math.max(Math.ceil(count / PAGE_ROWS) - 1, 0));
  const ordered = order === 'asc' ? [...shape.ts.keys()] : [...shape.ts.keys()].reverse();
  const places = ordered.slice(shown * PAGE_ROWS, (shown + 1) * PAGE_ROWS);
  const bins = places.map((at) => ({
    ts: shape.ts[at] ?? 0,
    min: shape.min[at] ?? 0,
    avg: shape.avg[at],
    max: shape.max[at] ?? 0,
    count: shape.count[at],
  }));
  const decimals = decimalsFor(bins.flatMap(({ min, max }) => [min, max]));
  const written = (value: number | null | undefined) => formatNumber(value, decimals);
  return (
    <>
      <section class="table-scroll" tabIndex={0} aria-label="Points of the chart">
        <Table
          class="samples bins"
          caption={`Points of the chart, each of ${formatStep(shape.stepMs ?? 0)}`}
          rows={bins}
          keyOf={({ ts }) => ts}
          columns={[
            {
              label: `From ${formatZone(zone, shape.to)}`,
              cell: ({ ts, min, max }) => (
                <>
                  <time datetime={new Date(ts).toISOString()}>{formatDateTime(ts, zone)}</time>
                  <OtherZone ts={ts} head={shape.to} /> <SampleMarks min={min} max={max} scale={valueScale} />
                </>
              ),
            },
            { label: `Lowest ${unit}`, class: 'number col-lowest', cell: ({ min }) => written(min) },
            {
              label: `Average ${unit}`,
              class: 'number col-average',
              cell: ({ min, avg, max }) => (
                <>
                  {written(avg)}
                  <span class="under-band">
                    {written(min)} to {written(max)}
                  </span>
                </>
              ),
            },
            { label: `Highest ${unit}`, class: 'number col-highest', cell: ({ max }) => written(max) },
            { label: 'Samples', class: 'number col-count', cell: ({ count }) => formatCount(count) },
          ]}
        />
      </section>
      <Pager
        what="point"
        shown={places.length}
        isFirst={shown === 0}
        number={shown + 1}
        onFirst={() => setPage(0)}
        onPrevious={shown === 0 ? null : () => setPage(shown - 1)}
        onNext={(shown + 1) * PAGE_ROWS < count ? () => setPage(shown + 1) : null}
      />
    </>
  );
}

const PAGE_ROWS = 25;
/** Minimum interval in ms at which new samples appear on the first page. */
const NEWS_MS = 1_000;

type Range = { from: number; to: number | null };

/** A page after the first. A cursor is valid only for the range of its request, so the range is stored with it. */
type Step = { cursor: string; range: Range };

/** Reads the samples of a window in pages. The first page of a live window is updated, and the other pages stay fixed. */
function useSamplePages(
  sensor: { device_id: string; sensor_id: string },
  window: Window,
  order: 'asc' | 'desc',
) {
  const { client, live } = useServices();
  const { live: isLive, from, to } = window;
  const scope = JSON.stringify([keyOf(sensor), isLive ? lengthOf(window) : [from, to], order]);
  const [walk, setWalk] = useState({ scope, steps: [] as Step[] });
  // A new window begins with its first page.
  const steps = walk.scope === scope ? walk.steps : [];
  const step = steps.at(-1) ?? null;

  const key = JSON.stringify([scope, step?.cursor, live.historyChanges.value]);
  const answer = useQuery(key, async (signal) => {
    const range = step?.range ?? { from, to: isLive ? null : to };
    const query = { ...range, order, limit: PAGE_ROWS, cursor: step?.cursor };
    return { key, range, ...(await client.measurements(sensor.device_id, sensor.sensor_id, query, signal)) };
  });

  const goesOn = isLive && order === 'desc' && step === null;
  const { reload } = answer;
  useEffect(() => {
    if (!goesOn) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
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
  // Until this page arrives, `data` belongs to another page. The cursor of that page leads to this page, or fits another sort
  // order, so it is not used.
  const next = data?.key === key ? data.next : null;
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
