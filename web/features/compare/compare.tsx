import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { keyOf } from '../../api/stream/index.ts';
import type { Gutter } from '../../chart/options.ts';
import { blank, createGutter, REACH } from '../../chart/options.ts';
import { inScale, readingAt, stateAt } from '../../chart/readout.ts';
import { within } from '../../chart/shape.ts';
import { lengthOf, useWindow } from '../../chart/window.ts';
import { WindowBar } from '../../chart/window-bar.tsx';
import { Choice } from '../../kit/controls.tsx';
import { Notice, ProblemLine, ProblemNotice, SlowLine } from '../../kit/notice.tsx';
import { ChartActions, useChartParts } from '../../kit/slots.tsx';
import { useKept, useServices, useTitle } from '../../state/hooks.ts';
import { useStale } from '../../state/verdict.ts';
import { statesOf } from '../../states.ts';
import type { Scale, UnitChoices } from '../../units.ts';
import { plainScale, scaleFor, shownText } from '../../units.ts';
import { compareHref, readHidden, readRefs } from './address.ts';
import { ComparePlot, Legend, StateStrip } from './compare-plot.tsx';
import { createComparison } from './state.ts';
import {
  axesOf,
  ghostWindow,
  groupsOf,
  NO_SHAPE,
  scaleOf,
  shifted,
  useComparedSensors,
  useShapes,
  WEEK_MS,
} from './use-compared.ts';
import '../../chart/chart.css';
import '../shared/tables.css';
import './compare.css';
import type { Plugin } from 'uplot';
import type { Shape } from '../../chart/shape.ts';
import type { Sensor } from './compare-plot.tsx';
import type { Compared, Line } from './use-compared.ts';

const HINT =
  'Drag to zoom in, Shift and drag to pan. Keys: plus and minus zoom, arrows walk along the times, with Shift they pan, 0 goes back.';
const CURSOR = 'compare';

/** Renders the comparison of up to eight sensors of any devices on one time axis: in one chart, or in charts below each other. */
export function CompareView() {
  const { router } = useServices();
  const comparison = useKept(createComparison);
  const { query } = router.place.value;
  const address = readRefs(query).join('\n');
  const refs = useMemo(() => (address ? address.split('\n') : []), [address]);
  const { data, problem, slow, reload } = useComparedSensors(refs);
  // While new sensors are read, the known sensors that are still selected stay on the page.
  const compared = useMemo(() => data?.filter(({ ref }) => refs.includes(ref)) ?? [], [data, refs]);
  useTitle('Compare');
  useEffect(() => comparison.set(refs), [comparison, refs]);

  const remove = (ref: string) =>
    router.go(
      compareHref(
        refs.filter((each) => each !== ref),
        query,
      ),
    );

  return (
    <>
      <div class="title">
        <h1>Compare</h1>
      </div>
      {slow && <SlowLine />}
      {problem ? (
        <ProblemNotice problem={problem} onRetry={reload} />
      ) : refs.length === 0 ? (
        <div class="panel">
          <Notice title="Nothing is compared yet">
            <p>Choose “+ compare” next to sensors, in the fleet, on a device, or on the page of a sensor.</p>
            <p class="notice-actions">
              <a class="button" href="/">
                To the fleet
              </a>
            </p>
          </Notice>
        </div>
      ) : compared.length === 0 ? (
        <Waiting />
      ) : (
        <Comparison compared={compared} onRemove={remove} />
      )}
    </>
  );
}

/** Keeps the place of the chart while the names of its sensors are read. */
const Waiting = () => (
  <section class="panel compare" aria-label="Comparison" aria-busy="true">
    <div class="compare-group">
      <div class="chart" />
      <div class="chart-loading" aria-hidden="true" />
      <div class="chart-over">
        <p role="status">Reading the sensors…</p>
      </div>
    </div>
  </section>
);

/** Number of distinct colors of lines. */
const HUES = 8;

function Comparison({ compared, onRemove }: { compared: Compared[]; onRemove: (ref: string) => void }) {
  const { preferences, router } = useServices();
  const { units } = preferences.choice.value;
  const { query } = router.place.value;
  const stale = useStale();
  const hint = useId();
  const panel = useRef<HTMLElement | null>(null);
  const [cursor, setCursor] = useState<number | null>(null);
  const time = useWindow(null);
  const { window, settled, bounds, change, reset } = time;
  const isStacked = query.get('view') === 'stacked';
  const isOwn = query.get('axes') === 'own';
  const hasGhost = query.get('ghost') === '1w';

  const refs = compared.map(({ ref }) => ref);
  const known = useMemo(() => compared.flatMap(({ sensor }) => (sensor ? [sensor] : [])), [compared]);
  const now = useShapes(known, settled);
  const before = useShapes(hasGhost ? known : NONE, ghostWindow(settled));
  const lines = useMemo(
    () =>
      linesOf({
        compared,
        shapes: now.shapes,
        ghosts: hasGhost ? before.shapes : NO_SHAPES,
        isOwn,
        choices: units,
      }),
    [compared, now.shapes, before.shapes, hasGhost, isOwn, units],
  );
  const hiddenText = query.getAll('hidden').join('\n');
  const hidden = useMemo(() => readHidden(query), [hiddenText]);
  const seen = useMemo(() => lines.filter(({ key }) => !hidden.has(key)), [lines, hidden]);
  const groups = useMemo(() => groupsOf(seen, isStacked), [seen, isStacked]);
  const devices = useMemo(() => [...new Set(known.map(({ device_id }) => device_id))], [known]);
  const parts = useChartParts({ devices, sensor: null, device: null, range: settled, at: window.to });
  const reach = (REACH / innerWidth) * lengthOf(window);
  const gutters = useMemo(() => [createGutter(), createGutter()], []);
  const sides = Math.max(1, ...groups.map(({ lines }) => axesOf(lines).length));
  const aligned = useMemo(() => [gutterPlugin(gutters.slice(0, sides))], [gutters, sides]);
  const lists = parts.map(({ plugins }) => plugins);
  const marked = useMemo(() => [...lists.flat(), ...aligned], [...lists, aligned]);
  const inWords = (ts: number) => textAt(seen, ts, reach);
  const range = { from: window.from, to: window.to + 1 };
  const problem = now.problem ?? before.problem;
  const readAgain = () => {
    now.reload();
    before.reload();
  };
  // During a gesture, the shown range is not read yet, so the page counts as reading.
  const isReading = now.loading || window.from !== settled.from || window.to !== settled.to;
  const chart = {
    window,
    bounds,
    inWords,
    onWindow: change,
    onReset: reset,
    onCursor: setCursor,
    cursorKey: CURSOR,
    describedBy: hint,
  };

  return (
    <>
      <section
        class="panel compare"
        aria-label="Comparison"
        ref={panel}
        aria-busy={now.loading}
        data-stale={stale !== null}
      >
        <WindowBar {...time} />
        <Options />
        {problem && <ProblemLine problem={problem} onRetry={readAgain} />}
        <p id={hint} class="visually-hidden">
          {HINT}
        </p>
        {groups.map((group, index) => (
          <GroupCharts
            key={group.key}
            {...{ group, aligned, isReading, chart }}
            label={`${labelOf(group.lines, isStacked)} over time; the table below has the figures`}
            plugins={index === 0 ? marked : aligned}
            isEmpty={!problem && group.lines.every(({ shape }) => within(shape, range).ts.length === 0)}
          />
        ))}
        {parts.map(({ note }) => note)}
        <ChartActions name="Comparison" lines={() => downloadsOf(seen, compared, range)} chart={panel} />
      </section>
      <Legend
        sensors={sensorsOf(compared, lines)}
        {...{ cursor, reach, range, hidden, onRemove }}
        onToggle={(ref) => router.go(compareHref(refs, query, toggled(hidden, ref)), { replace: true })}
      />
    </>
  );
}

/** Renders the chart of a group, or a strip for each of its lines with states. */
function GroupCharts({
  group: { key, lines, hasStates },
  label,
  plugins,
  aligned,
  isReading,
  isEmpty,
  chart,
}: {
  group: ReturnType<typeof groupsOf>[number];
  label: string;
  plugins: Plugins;
  /** plugins of the strips below the first */
  aligned: Plugins;
  isReading: boolean;
  isEmpty: boolean;
  chart: Omit<PlotProps, 'label' | 'lines' | 'plugins'>;
}) {
  return (
    <div class="compare-group">
      {hasStates ? (
        lines.map((line, at) => (
          <StateStrip
            key={`${key} ${line.isGhost}`}
            line={line}
            plugins={at === 0 ? plugins : aligned}
            {...chart}
          />
        ))
      ) : (
        <ComparePlot label={label} lines={lines} plugins={plugins} {...chart} />
      )}
      {isReading && <div class="chart-loading" aria-hidden="true" />}
      {isEmpty && (
        <div class="chart-over">
          <p>{isReading ? 'Reading samples…' : 'No samples in this range.'}</p>
        </div>
      )}
    </div>
  );
}

type PlotProps = Parameters<typeof ComparePlot>[0];
type Plugins = NonNullable<PlotProps['plugins']>;

/** @returns the shown samples of each line that is no ghost */
const downloadsOf = (lines: Line[], compared: Compared[], range: { from: number; to: number }) =>
  lines
    .filter(({ isGhost }) => !isGhost)
    .map(({ key, unit, shape }) => {
      const { device, name } = compared.find(({ ref }) => ref === key) ?? { device: '', name: key };
      return { device, sensor: name, unit, shape: within(shape, range) };
    });

/** @returns a copy of the set, with the member added or removed */
function toggled(members: ReadonlySet<string>, member: string): ReadonlySet<string> {
  const next = new Set(members);
  if (!next.delete(member)) next.add(member);
  return next;
}

const NONE: never[] = [];
const NO_SHAPES: ReadonlyMap<string, Line['shape']> = new Map();

/** Renders the choices of how the sensors are drawn. The address keeps the choices. */
function Options() {
  const { router } = useServices();
  const { query } = router.place.value;
  const set = (name: string) => (value: string) => router.changeQuery({ [name]: value }, { replace: true });
  return (
    <div class="compare-options">
      <Choice
        legend="Arrangement"
        options={[
          { value: '', label: 'Overlay', title: 'All in one chart' },
          { value: 'stacked', label: 'Stacked', title: 'A chart for each sensor' },
        ]}
        value={query.get('view') ?? ''}
        onChange={set('view')}
      />
      <Choice
        legend="Axes"
        options={[
          { value: '', label: 'Axis of the unit', title: 'Sensors of one unit share an axis' },
          { value: 'own', label: 'Own axes', title: 'Each sensor fills the chart' },
        ]}
        value={query.get('axes') ?? ''}
        onChange={set('axes')}
      />
      <Choice
        legend="A week earlier"
        options={[
          { value: '', label: 'Only now' },
          { value: '1w', label: 'With last week', title: 'Dotted: the same sensors a week earlier' },
        ]}
        value={query.get('ghost') ?? ''}
        onChange={set('ghost')}
      />
    </div>
  );
}

/** @returns lines of the sensors, then lines of their ghosts (the week before), so that the order of the legend stays */
function linesOf({
  compared,
  shapes,
  ghosts,
  isOwn,
  choices,
}: {
  compared: Compared[];
  shapes: ReadonlyMap<string, Line['shape']>;
  /** shapes of the range a week earlier, by sensor key */
  ghosts: ReadonlyMap<string, Line['shape']>;
  isOwn: boolean;
  choices: UnitChoices;
}): Line[] {
  const scales = scalesOf(compared, shapes, choices);
  const lines = compared.flatMap(({ ref, name, device, sensor }, index) => {
    if (!sensor) return [];
    const key = keyOf(sensor);
    const shown = scales.get(sensor.unit) ?? plainScale(sensor.unit);
    const [shape, ghost] = [shapes.get(key) ?? NO_SHAPE, ghosts.get(key)];
    const line = {
      key: ref,
      name: `${name} of ${device}`,
      unit: shown.unit,
      shown,
      intervalMs: sensor.interval_ms,
      hue: (index % HUES) + 1,
      scale: scaleOf(sensor.unit, index, isOwn),
      states: statesOf(together(shape, ghost), sensor),
    };
    return [
      { ...line, shape: inScale(shape, shown), isGhost: false },
      ...(ghost ? [{ ...line, shape: inScale(shifted(ghost, WEEK_MS), shown), isGhost: true }] : []),
    ];
  });
  return lines.toSorted((a, b) => Number(a.isGhost) - Number(b.isGhost));
}

/** @returns the values of a sensor and its ghost (the week before) together, because both are drawn in one form */
const together = (shape: Shape, ghost: Shape | undefined): Pick<Shape, 'min' | 'max'> =>
  ghost ? { min: [...shape.min, ...ghost.min], max: [...shape.max, ...ghost.max] } : shape;

/** @returns scales by sent unit. Sensors with equal units share an axis, so they also share prefix and chosen unit */
function scalesOf(
  compared: Compared[],
  shapes: ReadonlyMap<string, Line['shape']>,
  choices: UnitChoices,
): Map<string | null, Scale> {
  const known = compared.flatMap(({ sensor }) => (sensor ? [sensor] : []));
  const units = [...new Set(known.map(({ unit }) => unit))];
  return new Map(
    units.map((unit) => {
      const of = known.filter((sensor) => sensor.unit === unit).map((sensor) => shapes.get(keyOf(sensor)));
      const values = of.flatMap((shape) => (shape ? [...shape.min, ...shape.max] : []));
      return [unit, scaleFor(unit, values, choices)];
    }),
  );
}

const sensorsOf = (compared: Compared[], lines: Line[]): Sensor[] =>
  compared.map(({ ref, name, device, sensor }, index) => ({
    ref,
    name,
    device,
    sensor,
    hue: (index % HUES) + 1,
    shown: lines.find(({ key }) => key === ref)?.shown ?? plainScale(sensor?.unit ?? null),
    states: lines.find(({ key }) => key === ref)?.states ?? null,
    shape: lines.find(({ key, isGhost }) => key === ref && !isGhost)?.shape ?? NO_SHAPE,
    ghost: lines.find(({ key, isGhost }) => key === ref && isGhost)?.shape ?? null,
  }));

/** @returns text for screen readers about that time */
function textAt(lines: Line[], ts: number, reachMs: number): string {
  const texts = lines.flatMap(({ name, shown, states, shape, isGhost }) => {
    const reading = readingAt(shape, ts, reachMs);
    if (!reading) return [];
    const value = states ? stateAt(reading, states) : shownText(shown, reading.avg);
    return [`${name}${isGhost ? ' a week earlier' : ''} ${value}`];
  });
  return texts.join(', ') || 'No samples here';
}

const labelOf = (group: Line[], isStacked: boolean): string =>
  isStacked ? (group[0]?.name ?? '') : 'All sensors';

/**
 * Returns a plugin that gives charts below each other equally wide value axes, so that their times align. A chart with fewer
 * axes gets empty axes.
 */
const gutterPlugin = (gutters: Gutter[]): Plugin => ({
  opts(_chart, options) {
    const [times = {}, ...values] = options.axes ?? [];
    const none = { ...values[0], side: 1 as const, grid: { show: false }, values: blank };
    const axes = gutters.map(({ sizeFor }, index) => ({ ...(values[index] ?? none), size: sizeFor }));
    return { ...options, axes: [times, ...axes] };
  },
  hooks: {
    init(chart) {
      for (const gutter of gutters) gutter.add(chart);
    },
    destroy(chart) {
      for (const gutter of gutters) gutter.remove(chart);
    },
  },
});
