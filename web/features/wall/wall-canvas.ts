import { useEffect, useRef, useState } from 'preact/hooks';
import type { Fleet, FleetSensor } from '../../state/fleet.ts';
import { useServices } from '../../state/hooks.ts';
import type { Matcher } from '../../state/lists.ts';
import type { UnitChoices } from '../../units.ts';
import { matcherOf } from '../shared/matching.ts';
import { levelBelow, sortGroups } from './groups.ts';
import { layOut } from './layout.ts';
import type { Palette } from './painter.ts';
import { createHits, createPainter, readPalette } from './painter.ts';

export type Heading = {
  /** name of the site, or path of the place; null: without one */
  name: string | null;
  /** the next level below the place; null: there is none */
  below: string | null;
  sensors: number;
  devices: number;
  x: number;
  y: number;
  width: number;
};

export type Box = { x: number; y: number; width: number; height: number };

export class WallCanvas {
  readonly #painter: ReturnType<typeof createPainter>;
  readonly #fleet: Fleet;
  readonly #choices: () => UnitChoices;
  #sensors: FleetSensor[] = [];
  #layout = layOut([], { width: 1, height: 1 });
  #hits = createHits(this.#layout);
  #palette: Palette | null = null;
  #scale = 1;

  constructor(canvas: HTMLCanvasElement, fleet: Fleet, choices: () => UnitChoices) {
    this.#painter = createPainter(canvas);
    this.#fleet = fleet;
    this.#choices = choices;
  }

  /** Assigns a cell to every matching sensor. @param room in px; `scale`: device pixels per CSS pixel @param matches null: all match @param level of the places by which the wall is grouped; null: by site */
  arrange(
    room: { width: number; height: number; isAll: boolean; scale: number },
    { matches, level }: { matches: Matcher | null; level: string | null },
  ): { headings: Heading[]; height: number; count: number } {
    this.#scale = room.scale;
    const groups = sortGroups(this.#fleet.devices.values(), { matches, level });
    this.#layout = layOut(
      groups.map(({ devices }) => devices.map((members) => members.length)),
      room,
    );
    this.#hits = createHits(this.#layout);
    for (const sensor of this.#fleet.sensors.values()) sensor.cell = -1;
    this.#sensors = groups.flatMap(({ devices }) => devices.flat());
    for (const [cell, sensor] of this.#sensors.entries()) sensor.cell = cell;
    // If there is no space for headings, the layout has no blocks, and the wall has no headings.
    const headings = groups.slice(0, this.#layout.blocks.length).map(({ name, devices }, i) => ({
      name,
      below: level === null || name === null ? null : levelBelow(devices, name),
      sensors: devices.reduce((sum, { length }) => sum + length, 0),
      devices: devices.length,
      ...(this.#layout.blocks[i] ?? { x: 0, y: 0, width: 0 }),
    }));
    return { headings, height: this.#layout.height, count: this.#sensors.length };
  }

  isOutdated(matches: Matcher): boolean {
    for (const sensor of this.#fleet.sensors.values()) {
      if (matches(sensor) !== sensor.cell >= 0) return true;
    }
    return false;
  }

  color(next: Palette) {
    this.#palette = next;
  }

  paint() {
    if (this.#palette) this.#painter.all(this.#scene(), this.#palette, this.#scale);
  }

  repaint(changed: readonly FleetSensor[]) {
    if (this.#palette) this.#painter.some(this.#scene(), this.#palette, changed);
  }

  sensorAt(x: number, y: number): FleetSensor | null {
    return this.#sensors[this.#hits.at(x, y)] ?? null;
  }

  boxOf({ cell }: FleetSensor): Box | null {
    const { x, y, format } = this.#layout;
    if (cell < 0 || cell >= x.length) return null;
    return { x: Number(x[cell]), y: Number(y[cell]), width: format.width, height: format.height };
  }

  /** @returns the sensor to which the key moves the cursor; null: the key has no effect */
  byKey(from: FleetSensor | null, key: string): FleetSensor | null {
    const first = this.#sensors[0] ?? null;
    if (key === 'Home') return first;
    if (key === 'End') return this.#sensors.at(-1) ?? null;
    if (key === 'PageUp') return from ? this.#ofNextDevice(from, -1) : first;
    if (key === 'PageDown') return from ? this.#ofNextDevice(from, 1) : first;
    const way = WAYS[key];
    if (!way) return null;
    return from && from.cell >= 0 ? (this.#sensors[this.#hits.neighbor(from.cell, ...way)] ?? from) : first;
  }

  #scene() {
    return { layout: this.#layout, sensors: this.#sensors, choices: this.#choices() };
  }

  #ofNextDevice(sensor: FleetSensor, step: 1 | -1): FleetSensor {
    let at = sensor.cell;
    while (this.#sensors[at] && this.#sensors[at]?.device === sensor.device) at += step;
    const found = this.#sensors[at]?.device;
    while (step < 0 && this.#sensors[at - 1] && this.#sensors[at - 1]?.device === found) at -= 1;
    return this.#sensors[at] ?? sensor;
  }
}

const WAYS: Record<string, [dx: number, dy: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

/** Minimum interval in ms between two arrangements of the wall while sensors are still arriving. */
const ARRANGE_MS = 300;

/** The arranged wall, in px. `matching`: number of sensors that match the filters; null: there are no filters */
type Arranged = { headings: Heading[]; width: number; height: number; matching: number | null };

/** Arranges the cells when space, fleet or filters change, draws all when the theme changes, and single cells when values arrive. */
export function useWallCanvas() {
  const { live, router, preferences, clock } = useServices();
  const { query } = router.place.value;
  const { theme, units } = preferences.choice.value;
  const room = useRef<HTMLDivElement | null>(null);
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const legend = useRef<HTMLUListElement | null>(null);
  const picture = useRef<WallCanvas | null>(null);
  const matcher = matcherOf(query, live.fleet.judge);
  const matches = useRef(matcher);
  matches.current = matcher;
  const level = useRef<string | null>(null);
  level.current = query.get('level');
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
    const drawn = new WallCanvas(canvasElement, fleet, () => preferences.choice.peek().units);
    picture.current = drawn;
    let structure = -1;
    let arrangedAt = Number.NEGATIVE_INFINITY;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let frame = 0;

    function arrange() {
      clearTimeout(timer);
      timer = undefined;
      structure = fleet.structure();
      // The arrangement of an empty wall does not count here, because it must not delay the arrangement of the first sensors.
      if (fleet.sensors.size > 0) arrangedAt = performance.now();
      // The ref is set only here, because the resize observer arranges the wall first.
      rearrange.current = arrange;
      const width = (roomElement as HTMLElement).clientWidth;
      const { headings, height, count } = drawn.arrange(
        { width, ...heightFor(roomElement as HTMLElement), scale: devicePixelRatio },
        { matches: matches.current, level: level.current },
      );
      setArranged({ headings, width, height, matching: matches.current && count });
      // Drawing is a separate task, because arranging and drawing 10,000 cells takes too long for one task.
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => drawn.paint());
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
    // After a long sleep, the browser may restore an empty canvas, so all cells are drawn again.
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

  // The state of a sensor may change without a new value, so these filters are checked each second.
  const moves = query.has('look') || query.has('state');
  useEffect(() => {
    if (!moves) return undefined;
    return clock.time.subscribe(() => {
      if (matches.current && picture.current?.isOutdated(matches.current)) rearrange.current();
    });
  }, [moves, clock]);

  return { room, canvas, legend, picture, arranged };
}

/** Returns the available height in px: about half of the screen, or the rest of the window for a wall that has the whole window. */
function heightFor(room: HTMLElement): { height: number; isAll: boolean } {
  if (room.closest('[data-full="true"]')) return { height: room.clientHeight, isAll: true };
  return { height: Math.max(280, Math.min(1200, Math.round(innerHeight * 0.5))), isAll: false };
}

/** Restores focus and cursor for a user who opened a sensor by keyboard and returns. @param onReturn must stay the same function */
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
      // The user may have moved the focus meanwhile. Then the cursor is not restored.
      if (document.activeElement === element.current) onReturn(sensor);
    };
    const stop = live.watch(find);
    find();
    return stop;
  }, [live, router, onReturn]);
  return element;
}

const WALL_FILTERS = ['name', 'type', 'site', 'place', 'level', 'look', 'state'];
