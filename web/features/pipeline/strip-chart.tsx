import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { baseAxis, colorsOf, dateIn, TIME_SPACE, textScale, timeLabels } from '../../chart/options.ts';
import { usePlot } from '../../chart/plot.ts';
import type { Zone } from '../../format.ts';
import { formatCount, formatTicks, formatTime, formatZone } from '../../format.ts';
import { OtherZone } from '../../kit/figure.tsx';
import { Table } from '../../kit/table.tsx';
import { useServices } from '../../state/hooks.ts';
import { SPAN_MS } from './moments.ts';
import 'uplot/dist/uPlot.min.css';
import '../../chart/chart.css';
import type { Moment } from './moments.ts';

export interface StripLine {
  name: string;
  read: (moment: Moment) => number | null;
}

/** Renders a chart of the last five minutes, with a table of its values. */
export function StripChart({
  title,
  unit,
  lines,
  moments,
  format,
  isLog = false,
}: {
  title: string;
  unit: string;
  lines: StripLine[];
  moments: Moment[];
  format: (value: number | null) => string;
  /** whether the scale is logarithmic, so that one large value does not flatten all others */
  isLog?: boolean;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [point, setPoint] = useState<number | null>(null);
  const shown = useRef(moments);
  shown.current = moments;
  const { host, chart } = usePlot(
    (element, inZone) => {
      const options = stripOptions({
        host: element,
        zone: inZone,
        lines: lines.length,
        isLog,
        onPoint: setPoint,
      });
      const plot = new uPlot(options, [[]], element);
      show(plot, lines, shown.current);
      return { plot };
    },
    [lines],
  );
  useLayoutEffect(() => {
    if (chart.current) show(chart.current, lines, moments);
  }, [lines, moments]);

  const moment = (point === null ? null : moments[point]) ?? moments.at(-1);
  return (
    <section class="panel strip" aria-label={title}>
      <div class="strip-head">
        <h2>{title}</h2>
        <p class="strip-readout small">
          {moment && point !== null && <span>{formatTime(moment.at, zone)}</span>}
          {lines.map(({ name, read }, index) => (
            <span key={name} class="strip-figure">
              <span class="strip-line" data-dashed={index > 0} aria-hidden="true" />
              {name} <strong>{format(moment ? read(moment) : null)}</strong> {unit}
            </span>
          ))}
        </p>
      </div>
      <div
        class="strip-chart"
        ref={host}
        role="img"
        aria-label={`${title} of the last five minutes; the table below has the same figures`}
      />
      <StripTable title={title} unit={unit} lines={lines} moments={moments} format={format} zone={zone} />
    </section>
  );
}

function show(chart: uPlot, lines: StripLine[], moments: Moment[]) {
  const to = moments.at(-1)?.at ?? Date.now();
  chart.batch(() => {
    chart.setData([moments.map(({ at }) => at), ...lines.map(({ read }) => moments.map(read))], false);
    chart.setScale('x', { min: to - SPAN_MS, max: to });
  });
}

/** A scale of whole decades, at least from 1 to 100. */
const LOG_SCALE: uPlot.Scale = {
  distr: 3,
  range: (_chart, min, max) => [
    10 ** Math.min(0, Math.floor(Math.log10(min || 1))),
    10 ** Math.max(2, Math.ceil(Math.log10(max || 1))),
  ],
};

const decades = (_chart: uPlot, ticks: number[]): (number | null)[] =>
  ticks.map((tick) => (Number.isInteger(Number(Math.log10(tick).toFixed(6))) ? tick : null));

/** Returns the options of the chart: the first figure is a line with a filled area, the second a fainter line. */
function stripOptions({
  host,
  zone,
  lines,
  isLog,
  onPoint,
}: {
  host: HTMLElement;
  zone: Zone;
  lines: number;
  isLog: boolean;
  onPoint: (index: number | null) => void;
}): uPlot.Options {
  const color = colorsOf(host);
  const axis = baseAxis(color);
  const scale = textScale(color);
  const first = {
    stroke: color('--line'),
    fill: color('--line-area'),
    width: 1.5,
    points: { show: false },
  };
  const second = { stroke: color('--ink-2'), dash: [4, 3], width: 1, points: { show: false } };
  return {
    width: host.clientWidth,
    height: host.clientHeight,
    ms: 1,
    padding: [8, 30, 0, 0],
    legend: { show: false },
    tzDate: dateIn(zone),
    cursor: {
      y: false,
      drag: { x: false, y: false },
      points: { size: 7, width: 2, stroke: color('--surface'), fill: color('--line') },
    },
    scales: {
      x: { time: true, auto: false },
      y: isLog ? LOG_SCALE : { range: (_chart, _min, max) => [0, max ? max * 1.15 : 10] },
    },
    series: [{}, first, second].slice(0, lines + 1),
    axes: [
      {
        ...axis,
        grid: { show: false },
        size: 28 * scale,
        space: TIME_SPACE * scale,
        values: (_chart, ticks, _axis, _space, step) =>
          timeLabels(ticks, step, zone).map((text) => text.split('\n')[0] ?? ''),
      },
      {
        ...axis,
        size: 56 * scale,
        space: 36 * scale,
        // On a logarithmic scale, labels and lines are only at powers of ten.
        ...(isLog && { filter: decades, grid: { ...axis.grid, filter: decades } }),
        values: (_chart, ticks) =>
          isLog ? ticks.map((tick) => tick && formatCount(tick)) : formatTicks(ticks),
      },
    ],
    hooks: { setCursor: [(chart) => onPoint(chart.cursor.idx ?? null)] },
  };
}

const EVERY_MS = 15_000;

/** Renders the values of a chart as a table with a row for every 15 s. The table is rendered only while the user has it open. */
function StripTable({
  title,
  unit,
  lines,
  moments,
  format,
  zone,
}: Parameters<typeof StripChart>[0] & { zone: Zone }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="more-figures" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>The same as a table</summary>
      {isOpen && (
        <Table
          class="plain"
          caption={`${title}, newest first`}
          rows={sparse(moments)}
          keyOf={({ at }) => at}
          columns={[
            {
              label: `Time ${formatZone(zone, Date.now())}`,
              isName: true,
              cell: ({ at }) => (
                <>
                  {formatTime(at, zone)}
                  <OtherZone ts={at} />
                </>
              ),
            },
            ...lines.map(({ name, read }) => ({
              label: unit ? `${name}, ${unit}` : name,
              class: 'number',
              cell: (moment: Moment) => format(read(moment)),
            })),
          ]}
        />
      )}
    </details>
  );
}

/** @returns the first moment of each interval of 15 s, newest first */
function sparse(moments: Moment[]): Moment[] {
  const quarter = (at: number) => Math.floor(at / EVERY_MS);
  return moments.filter(({ at }, index) => quarter(at) !== quarter(moments[index - 1]?.at ?? 0)).reverse();
}
