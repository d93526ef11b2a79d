import { useEffect, useRef, useState } from 'preact/hooks';
import type { Fleet, FleetDevice, FleetSensor } from '../state/fleet.ts';
import { useServices } from '../state/hooks.ts';
import type { Matcher } from '../state/lists.ts';
import { sensorMatcher, sorted } from '../state/lists.ts';
import { isFarOff, OFFLINE, SILENT } from '../state/outliers.ts';
import type { UnitChoices } from '../units.ts';
import { layOut } from './layout.ts';
import type { Palette, TrailPoint } from './painter.ts';
import { createHits, createPainter, createTrails, readPalette } from './painter.ts';

/** Of a site; px. */
export type Heading = {
  name: string | null;
  sensors: number;
  devices: number;
  x: number;
  y: number;
  width: number;
};

/** Px from the top left of the wall. */
export type Box = { x: number; y: number; width: number; height: number };

/** The wall on its canvas: where each sensor's cell is, and what is redrawn when something changes. */
function createWallCanvas({
  canvas,
  fleet,
  choices,
  recentOf,
}: {
  canvas: HTMLCanvasElement;
  fleet: Fleet;
  choices: () => UnitChoices;
  /** values of a sensor that are known already, oldest first */
  recentOf: (key: string) => readonly TrailPoint[];
}) {
  const painter = createPainter(canvas);
  const trails = createTrails();
  /** by cell */
  let sensors: FleetSensor[] = [];
  let layout = layOut([], { width: 1, height: 1 });
  let hits = createHits(layout);
  let palette: Palette | null = null;
  let scale = 1;

  const trailOf = ({ key }: FleetSensor) => trails.of(key, recentOf(key));
  const scene = () => ({ layout, sensors, choices: choices(), trailOf });

  function paint() {
    if (palette) painter.all(scene(), palette, scale);
  }

  /** @returns the first one of the device before or after */
  function ofNextDevice(sensor: FleetSensor, step: 1 | -1): FleetSensor {
    let at = sensor.cell;
    while (sensors[at] && sensors[at]?.device === sensor.device) at += step;
    const found = sensors[at]?.device;
    while (step < 0 && sensors[at - 1] && sensors[at - 1]?.device === found) at -= 1;
    return sensors[at] ?? sensor;
  }

  return {
    /**
     * Gives every sensor that matches its place.
     *
     * @param room px; `isAll`: there is no more below; `scale`: device pixels of one
     * @param matches null: all
     * @returns `count`: sensors that match
     */
    arrange(
      room: { width: number; height: number; isAll: boolean; scale: number },
      matches: Matcher | null,
    ): { headings: Heading[]; height: number; count: number } {
      scale = room.scale;
      const sites = matchingSites(sortSites(fleet.devices.values()), matches);
      layout = layOut(
        sites.map(({ devices }) => devices.map((members) => members.length)),
        room,
      );
      hits = createHits(layout);
      for (const sensor of fleet.sensors.values()) sensor.cell = -1;
      sensors = sites.flatMap(({ devices }) => devices.flat());
      for (const [cell, sensor] of sensors.entries()) sensor.cell = cell;
      // Without room for headings there are no blocks.
      const headings = sites.slice(0, layout.blocks.length).map(({ name, sensors: count, devices }, i) => ({
        name,
        sensors: count,
        devices: devices.length,
        ...(layout.blocks[i] ?? { x: 0, y: 0, width: 0 }),
      }));
      return { headings, height: layout.height, count: sensors.length };
    },

    /** @returns whether other sensors match than those that have a place */
    isOutdated(matches: Matcher): boolean {
      for (const sensor of fleet.sensors.values()) {
        if (matches(sensor) !== sensor.cell >= 0) return true;
      }
      return false;
    },

    color(next: Palette) {
      palette = next;
    },

    paint,

    repaint(changed: readonly FleetSensor[]) {
      if (layout.format.isCard) trails.take(changed);
      if (palette) painter.some(scene(), palette, changed);
    },

    /**
     * @param x px
     * @param y px
     */
    sensorAt: (x: number, y: number): FleetSensor | null => sensors[hits.at(x, y)] ?? null,

    boxOf({ cell }: FleetSensor): Box | null {
      const { x, y, format } = layout;
      if (cell < 0 || cell >= x.length) return null;
      return { x: Number(x[cell]), y: Number(y[cell]), width: format.width, height: format.height };
    },

    /**
     * @param key of the keyboard
     * @returns where it leads; null: nowhere
     */
    byKey(from: FleetSensor | null, key: string): FleetSensor | null {
      const first = sensors[0] ?? null;
      if (key === 'Home') return first;
      if (key === 'End') return sensors.at(-1) ?? null;
      if (key === 'PageUp') return from ? ofNextDevice(from, -1) : first;
      if (key === 'PageDown') return from ? ofNextDevice(from, 1) : first;
      const way = WAYS[key];
      if (!way) return null;
      return from && from.cell >= 0 ? (sensors[hits.neighbor(from.cell, ...way)] ?? from) : first;
    },
  };
}

const WAYS: Record<string, [dx: number, dy: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

export type WallCanvas = ReturnType<typeof createWallCanvas>;

type Site = { name: string | null; devices: FleetDevice[]; sensors: number };

/**
 * The fleet as one looks for things in it: by site, in it by device, in that by sensor, each by its name; `collar-2` stands before
 * `collar-10`. Devices without a site come last.
 *
 * @param devices their sensors are put in order in place
 */
export function sortSites(devices: Iterable<FleetDevice>): Site[] {
  const bySite: Map<string | null, FleetDevice[]> = new Map();
  for (const device of devices) {
    if (device.sensors.length === 0) continue;
    const at = bySite.get(device.site);
    if (at) at.push(device);
    else bySite.set(device.site, [device]);
  }
  const sites = [...bySite].map(([name, members]) => ({ name, members }));
  return sorted(sites, ({ name }) => name, false).map(({ name, members }) => ({
    name,
    devices: sorted(members, ({ name }) => name, false).map(withSensorsInOrder),
    sensors: members.reduce((sum, device) => sum + device.sensors.length, 0),
  }));
}

/** @returns the sensors that match, by site and device; a site or device without one is left out */
function matchingSites(sites: Site[], matches: Matcher | null) {
  return sites
    .map(({ name, devices }) => {
      const members = devices.map(({ sensors }) => (matches ? sensors.filter(matches) : sensors));
      const kept = members.filter(({ length }) => length > 0);
      return { name, devices: kept, sensors: kept.reduce((sum, { length }) => sum + length, 0) };
    })
    .filter(({ sensors }) => sensors > 0);
}

function withSensorsInOrder(device: FleetDevice) {
  if (!device.isInOrder) device.sensors = sorted(device.sensors, ({ name }) => name, false);
  device.isInOrder = true;
  return device;
}

/** While sensors are still coming, the wall is arranged no more often than this, in ms. */
const ARRANGE_MS = 300;

/** Px; `matching`: sensors that match the filters, null: there are no filters. */
type Arranged = { headings: Heading[]; width: number; height: number; matching: number | null };

/**
 * The wall's picture on its canvas: arranged when the room, the fleet or the filters change, repainted when the theme changes, and cell
 * by cell as values come.
 *
 * @returns refs to be set, and what is shown
 */
export function useWallCanvas() {
  const { live, router, preferences, clock } = useServices();
  const { query } = router.place.value;
  const { theme, units } = preferences.choice.value;
  const room = useRef<HTMLDivElement | null>(null);
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const legend = useRef<HTMLUListElement | null>(null);
  const picture = useRef<WallCanvas | null>(null);
  const matches = useRef(matcherOf(query));
  matches.current = matcherOf(query);
  const filters = WALL_FILTERS.map((name) => query.get(name)).join('\n');
  const [arranged, setArranged] = useState<Arranged>({
    headings: [],
    width: 0,
    height: 0,
    matching: null,
  });
  const rearrange = useRef(() => {});

  useEffect(() => {
    const [roomElement, canvasElement, legendElement] = [room.current, canvas.current, legend.current];
    if (!roomElement || !canvasElement || !legendElement) return undefined;
    const { fleet } = live;
    const drawn = createWallCanvas({
      canvas: canvasElement,
      fleet,
      choices: () => preferences.choice.peek().units,
      recentOf: (key) => live.sensor(key)?.recent ?? [],
    });
    picture.current = drawn;
    let structure = -1;
    let arrangedAt = Number.NEGATIVE_INFINITY;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let frame = 0;

    function arrange() {
      clearTimeout(timer);
      timer = undefined;
      structure = fleet.structure();
      // An arrangement of an empty wall does not delay that of the first sensors.
      if (fleet.sensors.size > 0) arrangedAt = performance.now();
      // Not before: the observer of the room arranges first.
      rearrange.current = arrange;
      const width = (roomElement as HTMLElement).clientWidth;
      const { headings, height, count } = drawn.arrange(
        { width, ...heightFor(roomElement as HTMLElement), scale: devicePixelRatio },
        matches.current,
      );
      setArranged({ headings, width, height, matching: matches.current && count });
      // Drawn in a task of its own: to arrange and to draw ten thousand cells is too long for one.
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(drawn.paint);
    }

    function repaint() {
      drawn.color(readPalette(legendElement as HTMLElement));
      drawn.paint();
    }

    const stopWatching = live.watch((changed) => {
      drawn.repaint(changed);
      if (structure === fleet.structure() || timer) return;
      const wait = arrangedAt + ARRANGE_MS - performance.now();
      if (wait <= 0) arrange();
      else timer = setTimeout(arrange, wait);
    });
    const resizes = new ResizeObserver(arrange);
    resizes.observe(roomElement);
    const media = ['(prefers-color-scheme: dark)', 'print'].map((query) => matchMedia(query));
    for (const query of media) query.addEventListener('change', repaint);
    // After a long sleep a browser may give the canvas back empty.
    canvasElement.addEventListener('contextrestored', repaint);
    drawn.color(readPalette(legendElement));
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      stopWatching();
      resizes.disconnect();
      for (const query of media) query.removeEventListener('change', repaint);
      canvasElement.removeEventListener('contextrestored', repaint);
      picture.current = null;
      rearrange.current = () => {};
    };
  }, [live, preferences, theme, units]);

  useEffect(() => rearrange.current(), [filters]);

  // The state of a sensor changes by itself.
  const moves = query.has('look') || query.has('state');
  useEffect(() => {
    if (!moves) return undefined;
    return clock.time.subscribe(() => {
      if (matches.current && picture.current?.isOutdated(matches.current)) rearrange.current();
    });
  }, [moves, clock]);

  return { room, canvas, legend, picture, arranged };
}

/**
 * About half of the screen; all of what is left where the wall has the window to itself.
 *
 * @returns px
 */
function heightFor(room: HTMLElement): { height: number; isAll: boolean } {
  if (room.closest('[data-full="true"]')) return { height: room.clientHeight, isAll: true };
  return { height: Math.max(280, Math.min(1200, Math.round(innerHeight * 0.5))), isAll: false };
}

/**
 * Restores the focus and the cursor of the wall for a reader who opened a sensor by keyboard and comes back. It waits until that sensor
 * is known.
 *
 * @param onReturn the same function as long as the wall is there
 * @returns ref of what takes the focus
 */
export function useReturn(onReturn: (sensor: FleetSensor) => void): { current: HTMLDivElement | null } {
  const { live, router } = useServices();
  const element = useRef<HTMLDivElement | null>(null);
  useEffect(() => {
    const { opened } = router.place.peek();
    if (opened === null) return undefined;
    element.current?.focus({ preventScroll: true });
    const find = () => {
      const sensor = live.fleet.sensors.get(opened);
      if (!sensor) return;
      stop();
      // The reader may have moved the focus meanwhile.
      if (document.activeElement === element.current) onReturn(sensor);
    };
    const stop = live.watch(find);
    find();
    return stop;
  }, [live, router, onReturn]);
  return element;
}

/** The kind of fault that a filter selects; in the address as `look`. */
type Fault = 'far' | 'silent' | 'offline';

const FAULTS: Record<Fault, Matcher> = {
  far: (sensor) => sensor.cellState < SILENT && isFarOff(sensor),
  silent: ({ cellState }) => cellState === SILENT,
  offline: ({ cellState }) => cellState === OFFLINE,
};

/** Parameters of the address that the wall heeds. */
const WALL_FILTERS = ['name', 'type', 'site', 'look', 'state'];

/**
 * The filter of the address: that of the list, the state of the device, and the kind of fault.
 *
 * @returns null: all
 */
export function matcherOf(query: URLSearchParams): Matcher | null {
  const matches = sensorMatcher(query);
  const [look, state] = ['look', 'state'].map((name) => query.get(name) ?? '');
  if (!(matches || look || state)) return null;
  const isFaulty = FAULTS[look as Fault];
  return (sensor) =>
    (!matches || matches(sensor)) &&
    (!state || sensor.device.offline === (state === 'offline')) &&
    (!isFaulty || isFaulty(sensor));
}
