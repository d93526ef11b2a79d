import { useCallback, useMemo, useRef } from 'preact/hooks';
import { chartOptions, colorsOf, DOT_SIZE, loneEntriesOf } from '../../chart/options.ts';
import { useTimePlot } from '../../chart/plot.ts';
import type { Zone } from '../../format.ts';
import { alignLines, axesOf } from './use-compared.ts';
import 'uplot/dist/uPlot.min.css';
import '../../chart/chart.css';
import type uPlot from 'uplot';
import { keyOf } from '../../api/stream/index.ts';
import type { LatestItem } from '../../api/types.ts';
import { readingAt, stateAt } from '../../chart/readout.ts';
import type { Shape } from '../../chart/shape.ts';
import { middleOf, within } from '../../chart/shape.ts';
import { TimeChart, useStatePlugins } from '../../chart/signal-chart.tsx';
import type { Bounds, Window } from '../../chart/window.ts';
import { formatDateTime, formatNumber, formatZone, NOTHING } from '../../format.ts';
import { Age } from '../../kit/figure.tsx';
import { Table } from '../../kit/table.tsx';
import { itemHref } from '../../routes.ts';
import { useChanges, useServices } from '../../state/hooks.ts';
import { useStale } from '../../state/verdict.ts';
import type { StateNames } from '../../states.ts';
import { stateText } from '../../states.ts';
import type { Scale } from '../../units.ts';
import { shownText, toShown } from '../../units.ts';
import { sharesOf, statisticsOf } from '../shared/statistics.ts';
import type { Compared, Line } from './use-compared.ts';

/** Number of solid lines. Further lines are dashed, so that eight lines differ by more than their colors. */
const SOLID = 4;
const DASHES = { solid: undefined, dashed: [8, 4], ghost: [2, 4] };

/** An empty list of plugins that stays the same object, because a new array would rebuild the plot. */
const NO_PLUGINS: uPlot.Plugin[] = [];

/** Renders the bands of a sensor with states. The name of the sensor stands above the bands, because no axis shows it. */
export function StateStrip({
  line: { key, name, hue, shape, states, intervalMs, isGhost },
  plugins,
  onCursor,
  inWords,
  ...chart
}: { line: Line; plugins: uPlot.Plugin[] } & Pick<
  Parameters<typeof ComparePlot>[0],
  'window' | 'bounds' | 'onWindow' | 'onReset' | 'onCursor' | 'inWords' | 'cursorKey' | 'describedBy'
>) {
  const ofStates = useStatePlugins(shape, states, intervalMs);
  const all = useMemo(() => [...ofStates, ...plugins], [ofStates, plugins]);
  const caption = isGhost ? `${name}, a week earlier` : name;
  return (
    <figure class={`compare-strip hue-${hue}`} data-caption={caption} data-ghost={isGhost}>
      <figcaption>{caption}</figcaption>
      <TimeChart
        key={`${key} ${hue}`}
        label={`${caption} over time; the table below has the figures`}
        shape={shape}
        intervalMs={intervalMs}
        onPlace={(_place, ts) => onCursor(ts)}
        inWords={(place) => inWords(middleOf(shape, place))}
        plugins={all}
        {...chart}
      />
    </figure>
  );
}

/** Renders several signals on one time axis, moved and zoomed like the chart of one sensor. A table next to the plot has the values. */
export function ComparePlot(props: {
  label: string;
  /** lines of the plot; must be the same array while the lines stay the same */
  lines: Line[];
  window: Window;
  bounds: Bounds;
  /** `isSettled`: the gesture has ended */
  onWindow: (next: Window, isSettled: boolean) => void;
  onReset: () => void;
  /** receives the time under the cursor in epoch ms; null: the cursor is outside of the chart */
  onCursor: (ts: number | null) => void;
  /** returns the text for screen readers about the time that the keyboard reached */
  inWords: (ts: number) => string;
  cursorKey: string;
  plugins?: uPlot.Plugin[];
  /** id of the text that explains how to use the chart */
  describedBy?: string;
}) {
  const { label, lines, cursorKey, plugins = NO_PLUGINS, describedBy } = props;
  const picture = useMemo(() => alignLines(lines), [lines]);
  const shown = useRef({ ...props, picture });
  shown.current = { ...props, picture };
  const looks = lines.map(({ key, hue, scale, isGhost }) => [key, hue, scale, isGhost].join(' ')).join('\n');

  const { frame, announcement } = useTimePlot({
    shown: shown.current,
    options: (element, zone) => ({
      ...compareOptions({
        host: element,
        zone,
        cursorKey,
        lines: shown.current.lines,
        onCursor: (ts) => shown.current.onCursor(ts),
      }),
      plugins,
    }),
    inWords: props.inWords,
    inputs: [cursorKey, plugins, looks],
  });

  return (
    <>
      <div
        class="chart compare-chart"
        role="application"
        aria-roledescription="chart"
        aria-label={label}
        aria-describedby={describedBy}
        {...frame}
      />
      <p class="visually-hidden" role="status">
        {announcement}
      </p>
    </>
  );
}

export function compareOptions({
  host,
  zone,
  cursorKey,
  lines,
  onCursor,
}: {
  host: HTMLElement;
  zone: Zone;
  cursorKey: string;
  lines: Line[];
  onCursor: (ts: number | null) => void;
}): uPlot.Options {
  const base = chartOptions({
    host,
    zone,
    cursorKey,
    isRaw: () => false,
    entryUnder: nothing,
    onCursor() {},
    onPlot() {},
  });
  // Each line has its own times, so the cursor selects the nearest sample of each line.
  const { dataIdx: _, ...cursor } = base.cursor ?? {};
  const colors = lines.map(({ hue }) => hueColor(host, hue));
  const [times = {}, values = {}] = base.axes ?? [];
  const { x = {}, y = {} } = base.scales ?? {};
  const { bands: _bands, ...rest } = base;
  return {
    ...rest,
    cursor: {
      ...cursor,
      hover: { skip: [null, undefined] },
      points: { ...cursor.points, size: 7, fill: (_chart, index) => colors[index - 1] ?? '' },
    },
    scales: { x, ...Object.fromEntries(lines.map(({ scale }) => [scale, y])) },
    series: [
      {},
      ...lines.map(({ scale, isGhost }, index) => ({
        scale,
        stroke: colors[index] ?? '',
        width: isGhost ? 1 : 1.5,
        alpha: isGhost ? 0.6 : 1,
        dash: isGhost ? DASHES.ghost : index < SOLID ? DASHES.solid : DASHES.dashed,
        points: lonePoints(colors[index] ?? ''),
      })),
    ],
    axes: [
      times,
      ...axesOf(lines).map(({ scale, hue }, index) => ({
        ...values,
        scale,
        side: (index === 0 ? 3 : 1) as 1 | 3,
        grid: index === 0 ? (values.grid ?? {}) : { show: false },
        ...(hue === null ? {} : { stroke: hueColor(host, hue) }),
      })),
    ],
    hooks: {
      setCursor: [
        (chart) => {
          const { left = -1 } = chart.cursor;
          onCursor(left < 0 ? null : chart.posToVal(left, 'x'));
        },
      ],
    },
  };
}

const nothing = () => null;

/**
 * Returns the color of a hue. The color is read from an element with the class of the hue, because a canvas cannot read theme
 * variables.
 */
function hueColor(host: HTMLElement, hue: number) {
  const probe = document.createElement('i');
  probe.className = `hue-${hue}`;
  host.append(probe);
  const color = colorsOf(probe)('--line');
  probe.remove();
  return color;
}

/**
 * A compared sensor in its drawn form. `shown`: scale of the shapes of this week and the week before; `states`: state names,
 * null: the values are numbers
 */
export type Sensor = Compared & {
  hue: number;
  shown: Scale;
  states: StateNames | null;
  shape: Shape;
  ghost: Shape | null;
};

export function Legend({
  sensors,
  cursor,
  reach,
  range,
  hidden,
  onToggle,
  onRemove,
}: {
  sensors: Sensor[];
  /** time of the cursor in epoch ms; null: the cursor is outside of the chart */
  cursor: number | null;
  /** maximum distance of a sample from the cursor in ms */
  reach: number;
  range: { from: number; to: number };
  /** sensors whose lines are hidden */
  hidden: ReadonlySet<string>;
  onToggle: (ref: string) => void;
  onRemove: (ref: string) => void;
}) {
  const { preferences } = useServices();
  const { zone } = preferences.choice.value;
  const isStale = useStale() !== null;
  const hasGhost = sensors.some(({ ghost }) => ghost !== null);
  const when = cursor === null ? 'Newest' : `${formatDateTime(cursor, zone)} ${formatZone(zone, cursor)}`;
  return (
    <section class="panel" aria-label="Compared sensors">
      <section class="table-scroll" tabIndex={0} aria-label="Figures">
        <Table
          class="plain compare-legend"
          data-stale={isStale}
          rows={sensors}
          keyOf={({ ref }) => ref}
          useRow={(sensor) => useFigures(sensor, { cursor, reach, range })}
          rowAttributes={({ ref }) => ({ 'data-hidden': hidden.has(ref) })}
          columns={[
            { label: 'Sensor', isName: true, cell: ({ compared }) => <SensorName {...compared} /> },
            { label: when, class: 'number', cell: ({ now }) => now },
            hasGhost && { label: 'A week earlier', class: 'number', cell: ({ before }) => before },
            { label: 'Lowest', class: 'number', cell: ({ lowest }) => lowest },
            { label: 'Average', class: 'number', cell: ({ average }) => average },
            { label: 'Highest', class: 'number', cell: ({ highest }) => highest },
            {
              label: 'Hide or remove',
              isQuiet: true,
              class: 'number',
              cell: ({ compared: { ref, name, device, sensor } }) => (
                <>
                  {sensor && (
                    <button
                      type="button"
                      class="button quiet-button"
                      aria-label={`${hidden.has(ref) ? 'Show' : 'Hide'} ${name} of ${device}`}
                      onClick={() => onToggle(ref)}
                    >
                      {hidden.has(ref) ? 'Show' : 'Hide'}
                    </button>
                  )}
                  <button
                    type="button"
                    class="button quiet-button"
                    aria-label={`Remove ${name} of ${device}`}
                    onClick={() => onRemove(ref)}
                  >
                    Remove
                  </button>
                </>
              ),
            },
          ]}
        />
      </section>
    </section>
  );
}

const SensorName = ({ name, device, sensor, hue }: Sensor) => (
  <>
    <i class={`compare-swatch hue-${hue}`} aria-hidden="true" />
    {sensor ? (
      <a class="link" href={itemHref({ ...sensor, device })}>
        {name}
      </a>
    ) : (
      name
    )}{' '}
    <span class="quiet">{sensor ? device : `there is no such sensor of ${device}`}</span>
  </>
);

/** Returns the figures of a sensor as text: at the cursor, a week earlier, and of the shown range. */
function useFigures(
  compared: Sensor,
  { cursor, reach, range }: { cursor: number | null; reach: number; range: { from: number; to: number } },
) {
  const { name, sensor, shown, states, shape, ghost } = compared;
  const seen = within(shape, range);
  const { min, avg, max } = statisticsOf(seen);
  const labels = { name, type: sensor?.type ?? null, unit: sensor?.unit ?? null };
  const written = (value: number | null) =>
    value === null ? NOTHING : (states?.(value) ?? stateText(labels, value) ?? shownText(shown, value));
  const writtenAt = (of: Shape, ts: number) => {
    const reading = readingAt(of, ts, reach);
    return reading && states ? stateAt(reading, states) : written(reading?.avg ?? null);
  };
  const newest = useNewest(sensor);
  const newestText = (
    <>
      <span class="value-number">{written(newest.value === null ? null : toShown(shown, newest.value))}</span>{' '}
      {newest.ts !== null && <Age ts={newest.ts} intervalMs={sensor?.interval_ms} />}
    </>
  );
  return {
    compared,
    now: cursor === null ? newestText : writtenAt(shape, cursor),
    before: ghost ? writtenAt(ghost, cursor ?? range.to) : NOTHING,
    lowest: written(min),
    average: states ? shareText(seen, states) : written(avg),
    highest: written(max),
  };
}

/** @returns text about the share of samples that are in the higher of two states */
function shareText(shape: Shape, states: StateNames): string {
  const shares = sharesOf(shape);
  const higher = shares.at(-1);
  if (!higher || shares.length > 2) return NOTHING;
  return `${states(higher.value)} ${formatNumber(Math.round(higher.share * 1000) / 10)} %`;
}

/** @returns the newest value of a sensor, kept live */
function useNewest(sensor: Compared['sensor']): Pick<LatestItem, 'ts' | 'value'> {
  const { live } = useServices();
  const key = sensor ? keyOf(sensor) : '';
  useChanges(useCallback((listener) => live.subscribe(key, listener), [live, key]));
  return live.sensor(key)?.item ?? sensor ?? { ts: null, value: null };
}

/** Returns options that draw dots only for samples between two gaps, which a line alone would not show. */
const lonePoints = (fill: string): uPlot.Series.Points => ({
  show: false,
  size: DOT_SIZE,
  width: 0,
  fill,
  filter: loneEntriesOf,
});
