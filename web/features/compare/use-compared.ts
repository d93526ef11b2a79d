import { useCallback, useEffect, useMemo, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { createLimit } from '../../api/client.ts';
import type { Problem } from '../../api/request.ts';
import { nullIfMissing } from '../../api/request.ts';
import { keyOf } from '../../api/stream/index.ts';
import type { SensorInfo } from '../../api/types.ts';
import { createReader, pointsFor } from '../../chart/reader.ts';
import type { Columns, Drawn, Shape } from '../../chart/shape.ts';
import { drawn, emptyShape } from '../../chart/shape.ts';
import { openFeed } from '../../chart/use-series.ts';
import type { Window } from '../../chart/window.ts';
import { lengthOf } from '../../chart/window.ts';
import { useQuery, useServices } from '../../state/hooks.ts';
import type { StateNames } from '../../states.ts';
import type { Scale } from '../../units.ts';
import { parseRef } from './address.ts';

/** A sensor of the page address. */
export interface Compared {
  /** reference of the sensor in the address */
  ref: string;
  name: string;
  /** name of the device; its id if it has no name */
  device: string;
  /** null: the sensor does not exist */
  sensor: (SensorInfo & { device_id: string }) | null;
}

/** Reads the sensors of the address, with their names. */
export function useComparedSensors(refs: string[]) {
  const { client, live } = useServices();
  const answer = useQuery(refs.join('\n'), async (signal) =>
    Promise.all(
      refs.map(async (ref) => {
        const { device, sensor } = parseRef(ref) ?? { device: '', sensor: '' };
        const [info, latest] = await Promise.all([
          client.sensor(device, sensor, signal).catch(nullIfMissing),
          client.latest({ device, limit: 1 }, signal),
        ]);
        const compared: Compared = {
          ref,
          name: info?.name ?? sensor,
          device: latest.items[0]?.device ?? device,
          sensor: info,
        };
        return compared;
      }),
    ),
  );
  const { data } = answer;
  useEffect(() => {
    const known = data?.flatMap(({ sensor }) => (sensor ? [sensor] : [])) ?? [];
    if (known.length > 0)
      live.follow({ sensors: known.map(({ device_id, sensor_id }) => [device_id, sensor_id]) });
  }, [live, data]);
  return answer;
}

/**
 * Share of the length of a live window by which its ghosts (the lines of the week before) are read ahead. After that time, the
 * ghosts are read again.
 */
const GHOST_STEP = 0.05;

/**
 * Returns the window of the ghosts, which are the lines of the week before. If the window is live, the window of the ghosts
 * reaches a little ahead.
 */
export function ghostWindow({ live, from, to }: Window): Window {
  if (!live) return { live: false, from: from - WEEK_MS, to: to - WEEK_MS };
  const step = Math.max((to - from) * GHOST_STEP, 1000);
  const end = Math.ceil(to / step) * step - WEEK_MS;
  return { live: false, from: Math.floor(end - (to - from) - step), to: Math.ceil(end) };
}

/** Maximum number of concurrent requests. A browser opens at most six connections to a host, for all tabs together. */
const AT_ONCE = 3;

/**
 * Reads the shapes of sensors in a window. Each shape is available as soon as it is read. A live window is updated
 * continuously.
 *
 * @returns `shapes`: shapes by sensor key
 */
export function useShapes(
  sensors: { device_id: string; sensor_id: string; interval_ms: number | null }[],
  window: Window,
): { shapes: ReadonlyMap<string, Shape>; loading: boolean; problem: Problem | null; reload: () => void } {
  const { client, clock, live, preferences } = useServices();
  const { zone } = preferences.choice.value;
  const [shapes, setShapes] = useState<ReadonlyMap<string, Shape>>(new Map());
  const [settled, setSettled] = useState({ name: '', keys: new Set() as ReadonlySet<string> });
  const [problems, setProblems] = useState<ReadonlyMap<string, Problem>>(NO_PROBLEMS);
  const [round, setRound] = useState(0);
  const reload = useCallback(() => setRound((count) => count + 1), []);
  const careful = useMemo(() => client.withLimit(createLimit(AT_ONCE)), [client]);
  const keys = useMemo(() => sensors.map(keyOf), [sensors]);
  const { live: isLive, from, to } = window;
  // This text identifies sensors and range, and is the only dependency of the effect.
  const name = [...keys, isLive ? to - from : `${from}/${to}`].join(' ');

  useEffect(() => {
    setSettled({ name, keys: new Set() });
    setProblems(NO_PROBLEMS);
    const closings = sensors.map((sensor) => {
      const key = keyOf(sensor);
      return openFeed({
        reader: createReader(careful, sensor, zone),
        window: { live: isLive, from, to },
        points: pointsFor(lengthOf({ live: isLive, from, to }), innerWidth, sensor.interval_ms),
        end: () => Math.max(clock.now(), Date.parse(live.sensor(key)?.item.ts ?? '') || 0),
        subscribe: (listener) => live.subscribe(key, listener),
        onShape: (shape) => setShapes((now) => new Map(now).set(key, shape)),
        onProblem: (problem) => setProblems((now) => new Map(now).set(key, problem)),
        onSettled() {
          setProblems((now) => without(now, key));
          setSettled((now) => (now.keys.has(key) ? now : { name, keys: new Set(now.keys).add(key) }));
        },
      });
    });
    return () => {
      for (const close of closings) close();
    };
  }, [careful, clock, live, zone, name, round]);

  // With a new range, the component is drawn once before the effect starts to read. In this drawing, the range counts as not
  // read.
  const isRead = settled.name === name && settled.keys.size === new Set(keys).size;
  const [problem = null] = problems.values();
  return { shapes, loading: !isRead && !problem, problem, reload };
}

const NO_PROBLEMS: ReadonlyMap<string, Problem> = new Map();

/** @returns a copy without the key; the map itself if it has no such key */
function without<T>(map: ReadonlyMap<string, T>, key: string): ReadonlyMap<string, T> {
  if (!map.has(key)) return map;
  return new Map([...map].filter(([each]) => each !== key));
}

export const NO_SHAPE: Shape = emptyShape({ from: 0, to: 0 });

export interface Line {
  key: string;
  name: string;
  unit: string | null;
  /** scale of the values of `shape` */
  shown: Scale;
  intervalMs: number | null;
  shape: Shape;
  /** number of the color, 1 to 8 */
  hue: number;
  /** name of the scale; lines with equal names share an axis */
  scale: string;
  /** whether the line shows the sensor a week earlier */
  isGhost: boolean;
  /** state names; null: the values are numbers, drawn as a line */
  states: StateNames | null;
}

/** One chart of the comparison: several lines, or the bands of one sensor with states and its ghost (the week before). */
export type Group = { key: string; lines: Line[]; hasStates: boolean };

/**
 * @param lines visible lines
 * @param isStacked true: a chart for each sensor; false: one chart for all lines, and one for each sensor with states
 * @returns charts in the order of the sensors
 */
export function groupsOf(lines: Line[], isStacked: boolean): Group[] {
  const groups: Map<string, Group> = new Map();
  for (const line of lines) {
    const hasStates = line.states !== null;
    const key = isStacked || hasStates ? line.key : '';
    const group = groups.get(key);
    if (group) group.lines.push(line);
    else groups.set(key, { key, lines: [line], hasStates });
  }
  const all = [...groups.values()];
  return isStacked ? all : all.toSorted((a, b) => Number(a.hasStates) - Number(b.hasStates));
}

/** Time in ms by which a ghost is older than its line. */
export const WEEK_MS = 7 * 86_400_000;

/** @param ms time in ms by which the shape moves to a later time */
export const shifted = (shape: Shape, ms: number): Shape => ({
  ...shape,
  from: shape.from + ms,
  to: shape.to + ms,
  ts: shape.ts.map((ts) => ts + ms),
});

/**
 * Aligns the lines to one column of times. If a line has no sample at a time of another line, its value is undefined and the
 * line continues. A value of null is a gap.
 *
 * @returns columns for the chart; `places` has every entry of the columns
 */
export function alignLines(lines: Line[]): Drawn {
  const tables = lines.map(({ shape, intervalMs }) => {
    const [x, avg] = drawn(shape, intervalMs).columns;
    return [x, avg] as uPlot.AlignedData;
  });
  const columns = tables.length === 0 ? [[]] : uPlot.join(tables);
  return {
    columns: columns as unknown as Columns,
    places: Array.from(columns[0] ?? [], (_, place) => place),
  };
}

/**
 * @param index index of the sensor
 * @param isOwn true: each sensor has its own axis; false: sensors with equal units share an axis
 * @returns name of the scale
 */
export const scaleOf = (unit: string | null, index: number, isOwn: boolean): string =>
  isOwn ? `own ${index}` : `unit ${unit ?? ''}`;

/** Number of axes with labels: one at each side of the chart. */
const AXES = 2;

/** @returns axes with labels; `hue`: color of the only sensor of an axis, null: the axis has several sensors */
export function axesOf(lines: Line[]): { scale: string; unit: string | null; hue: number | null }[] {
  const own = lines.filter(({ isGhost }) => !isGhost);
  const scales = [...new Set(own.map(({ scale }) => scale))].slice(0, AXES);
  return scales.map((scale) => {
    const members = own.filter((line) => line.scale === scale);
    const [first] = members;
    return { scale, unit: first?.unit ?? null, hue: members.length === 1 ? (first?.hue ?? null) : null };
  });
}
