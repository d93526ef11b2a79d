import { useEffect, useRef, useState } from 'preact/hooks';
import type { FleetSensor } from '../state/fleet.ts';
import { useServices } from '../state/hooks.ts';
import { isFar, OFFLINE, SILENT } from '../state/outliers.ts';
import { readPalette } from './painter.ts';
import type { Heading, Picture } from './picture.ts';
import { createPicture } from './picture.ts';

/** While sensors are still coming, the wall is arranged no more often than this, in ms. */
const ARRANGE_MS = 300;

/** Px; `lit`: sensors that match the filters, null: all. */
type Arranged = { headings: Heading[]; width: number; height: number; lit: number | null };

/**
 * The wall's picture on its canvas: arranged when the room or the fleet changes, repainted when theme or filters change, and cell by
 * cell as values come.
 *
 * @returns refs to be set, and what is shown
 */
export function usePicture() {
  const { live, router, preferences, clock } = useServices();
  const { query } = router.place.value;
  const { theme, units } = preferences.choice.value;
  const room = useRef<HTMLDivElement | null>(null);
  const canvas = useRef<HTMLCanvasElement | null>(null);
  const legend = useRef<HTMLUListElement | null>(null);
  const picture = useRef<Picture | null>(null);
  const matches = useRef(matcherOf(query));
  matches.current = matcherOf(query);
  const filters = WALL_FILTERS.map((name) => query.get(name)).join('\n');
  const [arranged, setArranged] = useState<Arranged>({ headings: [], width: 0, height: 0, lit: null });

  useEffect(() => {
    const [roomElement, canvasElement, legendElement] = [room.current, canvas.current, legend.current];
    if (!roomElement || !canvasElement || !legendElement) return undefined;
    const { fleet } = live;
    const drawn = createPicture({
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
      arrangedAt = performance.now();
      const width = (roomElement as HTMLElement).clientWidth;
      const { headings, height } = drawn.arrange({
        width,
        ...heightFor(roomElement as HTMLElement),
        scale: devicePixelRatio,
      });
      setArranged({ headings, width, height, lit: light(drawn) });
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
    drawn.color(readPalette(legendElement));
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      stopWatching();
      resizes.disconnect();
      for (const query of media) query.removeEventListener('change', repaint);
      picture.current = null;
    };
  }, [live, preferences, theme, units]);

  function light(drawn: Picture): number | null {
    const matching = matches.current;
    const lit = drawn.light(matching ?? (() => true));
    return matching ? lit : null;
  }

  useEffect(() => {
    if (!picture.current) return;
    const lit = light(picture.current);
    picture.current.paint();
    setArranged((now) => ({ ...now, lit }));
  }, [filters]);

  // The state of a sensor changes by itself.
  const moves = query.has('look') || query.has('state');
  useEffect(() => {
    if (!moves) return undefined;
    return clock.time.subscribe(() => {
      if (!picture.current) return;
      const lit = light(picture.current);
      picture.current.paint();
      setArranged((now) => (now.lit === lit ? now : { ...now, lit }));
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
      // Meanwhile one may have gone on.
      if (document.activeElement === element.current) onReturn(sensor);
    };
    const stop = live.watch(find);
    find();
    return stop;
  }, [live, router, onReturn]);
  return element;
}

/** What may be wrong with a sensor; in the address as `look`. */
type Trouble = 'far' | 'silent' | 'offline';

const TROUBLES: Record<Trouble, (sensor: FleetSensor) => boolean> = {
  far: (sensor) => sensor.cellState < SILENT && isFar(sensor),
  silent: ({ cellState }) => cellState === SILENT,
  offline: ({ cellState }) => cellState === OFFLINE,
};

/** Parameters of the address that the wall heeds. */
export const WALL_FILTERS = ['name', 'type', 'site', 'look', 'state'];

/**
 * The filter of the address: type and site as a whole, a text in the name of sensor or device, and the kind of trouble.
 *
 * @returns null: all
 */
export function matcherOf(query: URLSearchParams): ((sensor: FleetSensor) => boolean) | null {
  const { name, type, site, look, state } = Object.fromEntries(
    WALL_FILTERS.map((filter) => [filter, query.get(filter) ?? '']),
  );
  if (!(name || type || site || look || state)) return null;
  const text = (name ?? '').toLowerCase();
  const trouble = TROUBLES[look as Trouble];
  return (sensor) =>
    (!type || sensor.type === type) &&
    (!site || sensor.device.site === site) &&
    (!state || sensor.device.offline === (state === 'offline')) &&
    (!trouble || trouble(sensor)) &&
    (!text || sensor.name.toLowerCase().includes(text) || sensor.device.name.toLowerCase().includes(text));
}
