import { useEffect, useId, useMemo, useRef, useState } from 'preact/hooks';
import { useAnnotations } from '../../chart/annotations.tsx';
import { ChartDownloads } from '../../chart/downloads.tsx';
import { useMarks } from '../../chart/marks.ts';
import { REACH } from '../../chart/options.ts';
import { readingAt } from '../../chart/readout.ts';
import { within } from '../../chart/shape.ts';
import { lengthOf, useWindow } from '../../chart/window.ts';
import { WindowBar } from '../../chart/window-bar.tsx';
import { formatNumber, formatUnit } from '../../format.ts';
import { compareHref, readRefs, useComparison } from '../../kit/comparison.tsx';
import { Choice } from '../../kit/controls.tsx';
import { Notice, OfflineBanner, ProblemLine, ProblemNotice } from '../../kit/notice.tsx';
import { useServices, useTitle } from '../../state/hooks.ts';
import { keyOf } from '../../state/live.ts';
import { useStale } from '../../state/verdict.ts';
import { ComparePlot, Legend } from './compare-plot.tsx';
import {
  ghostWindow,
  NO_SHAPE,
  scaleOf,
  shifted,
  useComparedSensors,
  useShapes,
  WEEK_MS,
} from './use-compared.ts';
import '../../chart/chart.css';
import type { Sensor } from './compare-plot.tsx';
import type { Compared, Line } from './use-compared.ts';

const HINT =
  'Drag to zoom in, Shift and drag to pan. Keys: plus and minus zoom, arrows walk along the times, with Shift they pan, 0 goes back.';
const CURSOR = 'compare';

/** Up to eight sensors of any devices on one axis of time: over each other, or below each other. */
export function CompareView() {
  const { router } = useServices();
  const { query } = router.place.value;
  const comparison = useComparison();
  const address = readRefs(query).join('\n');
  const refs = useMemo(() => (address ? address.split('\n') : []), [address]);
  const { data, problem, reload } = useComparedSensors(refs);
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
      {problem ? (
        <ProblemNotice problem={problem} onRetry={reload} />
      ) : refs.length === 0 ? (
        <Notice title="Nothing is compared yet">
          <p>Choose “+ compare” next to sensors, in the fleet, on a device, or on the page of a sensor.</p>
          <p class="notice-actions">
            <a class="button" href="/">
              To the fleet
            </a>
          </p>
        </Notice>
      ) : (
        data && <Comparison compared={data} onRemove={remove} />
      )}
    </>
  );
}

/** How many sensors have a color of their own. */
const HUES = 8;

function Comparison({ compared, onRemove }: { compared: Compared[]; onRemove: (ref: string) => void }) {
  const { preferences, router } = useServices();
  const { zone } = preferences.choice.value;
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

  const known = useMemo(() => compared.flatMap(({ sensor }) => (sensor ? [sensor] : [])), [compared]);
  const now = useShapes(known, settled);
  const before = useShapes(hasGhost ? known : NONE, ghostWindow(settled));
  const lines = useMemo(
    () => linesOf({ compared, shapes: now.shapes, ghosts: hasGhost ? before.shapes : NO_SHAPES, isOwn }),
    [compared, now.shapes, before.shapes, hasGhost, isOwn],
  );
  const drawn = useMemo(() => {
    const groups = isStacked ? compared.map(({ ref }) => lines.filter(({ key }) => key === ref)) : [lines];
    return groups.filter((group) => group.length > 0);
  }, [compared, lines, isStacked]);
  const devices = useMemo(() => [...new Set(known.map(({ device_id }) => device_id))], [known]);
  const notes = useAnnotations(devices, settled);
  const marks = useMarks(notes.annotations, zone);
  const reach = (REACH / innerWidth) * lengthOf(window);
  const inWords = (ts: number) => textAt(lines, ts, reach);
  const range = { from: window.from, to: window.to + 1 };
  const problem = now.problem ?? before.problem;

  return (
    <>
      <OfflineBanner stale={stale} />
      <section class="panel compare" aria-label="Comparison" ref={panel} aria-busy={now.loading}>
        <WindowBar {...time} />
        <Options />
        {problem && <ProblemLine problem={problem} onRetry={now.reload} />}
        <p id={hint} class="visually-hidden">
          {HINT}
        </p>
        {drawn.map((group, index) => (
          <ComparePlot
            key={isStacked ? (group[0]?.key ?? index) : 'all'}
            label={`${labelOf(group, isStacked)} over time; the table below has the figures`}
            lines={group}
            {...{ window, bounds, inWords }}
            onWindow={change}
            onReset={reset}
            onCursor={setCursor}
            cursorKey={CURSOR}
            plugins={index === 0 ? marks : undefined}
            describedBy={hint}
          />
        ))}
        <ChartDownloads
          name="Comparison"
          lines={lines
            .filter(({ isGhost }) => !isGhost)
            .map(({ key, unit, shape }) => {
              const { device, name } = compared.find(({ ref }) => ref === key) ?? { device: '', name: key };
              return { device, sensor: name, unit, shape: within(shape, range) };
            })}
          chart={panel}
        />
      </section>
      <Legend sensors={sensorsOf(compared, lines)} {...{ cursor, reach, range }} onRemove={onRemove} />
    </>
  );
}

const NONE: never[] = [];
const NO_SHAPES: ReadonlyMap<string, Line['shape']> = new Map();

/** How the sensors are drawn. The address keeps it. */
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

/** @returns the sensors first: their ghosts lie behind the legend's order */
function linesOf({
  compared,
  shapes,
  ghosts,
  isOwn,
}: {
  compared: Compared[];
  /** by key of the sensor */
  shapes: ReadonlyMap<string, Line['shape']>;
  /** the same a week earlier */
  ghosts: ReadonlyMap<string, Line['shape']>;
  isOwn: boolean;
}): Line[] {
  const lines = compared.flatMap(({ ref, name, device, sensor }, index) => {
    if (!sensor) return [];
    const key = keyOf(sensor);
    const line = {
      key: ref,
      name: `${name} of ${device}`,
      unit: sensor.unit,
      intervalMs: sensor.interval_ms,
      hue: (index % HUES) + 1,
      scale: scaleOf(sensor.unit, index, isOwn),
    };
    const ghost = ghosts.get(key);
    return [
      { ...line, shape: shapes.get(key) ?? NO_SHAPE, isGhost: false },
      ...(ghost ? [{ ...line, shape: shifted(ghost, WEEK_MS), isGhost: true }] : []),
    ];
  });
  return lines.toSorted((a, b) => Number(a.isGhost) - Number(b.isGhost));
}

const sensorsOf = (compared: Compared[], lines: Line[]): Sensor[] =>
  compared.map(({ ref, name, device, sensor }, index) => ({
    ref,
    name,
    device,
    sensor,
    hue: (index % HUES) + 1,
    shape: lines.find(({ key, isGhost }) => key === ref && !isGhost)?.shape ?? NO_SHAPE,
    ghost: lines.find(({ key, isGhost }) => key === ref && isGhost)?.shape ?? null,
  }));

/**
 * @param ts epoch ms
 * @returns for screen readers
 */
function textAt(lines: Line[], ts: number, reachMs: number): string {
  const texts = lines.flatMap(({ name, unit, shape, isGhost }) => {
    const reading = readingAt(shape, ts, reachMs);
    if (!reading) return [];
    return [`${name}${isGhost ? ' a week earlier' : ''} ${formatNumber(reading.avg)} ${formatUnit(unit)}`];
  });
  return texts.join(', ') || 'No samples here';
}

const labelOf = (group: Line[], isStacked: boolean): string =>
  isStacked ? (group[0]?.name ?? '') : 'All sensors';
