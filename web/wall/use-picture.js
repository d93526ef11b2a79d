import { useEffect, useRef, useState } from 'preact/hooks';
import { useObservable, useParts } from '../state/hooks.js';
import { matcherOf, WALL_FILTERS } from './matching.js';
import { readPalette } from './palette.js';
import { createPicture } from './picture.js';

/** @import { Heading, Picture } from './picture.js' */

/** While sensors are still coming, places are given anew no more often than this, in ms. */
const ARRANGE_MS = 300;

/**
 * @typedef {{ headings: Heading[], width: number, height: number, lit: number | null }} Arranged px; `lit`: sensors that match the filters, null: all
 */

/**
 * The wall's picture on its canvas: arranged when the room or the fleet changes, painted anew when theme or filters change, and cell by
 * cell as values come.
 *
 * @returns refs to be set, and what is shown
 */
export function usePicture() {
  const { live, router, preferences, clock } = useParts();
  const { query } = useObservable(router.place);
  const { theme } = useObservable(preferences);
  const room = useRef(/** @type {HTMLElement | null} */ (null));
  const canvas = useRef(/** @type {HTMLCanvasElement | null} */ (null));
  const legend = useRef(/** @type {HTMLElement | null} */ (null));
  const picture = useRef(/** @type {Picture | null} */ (null));
  const matches = useRef(matcherOf(query));
  matches.current = matcherOf(query);
  const filters = WALL_FILTERS.map((name) => query.get(name)).join('\n');
  const [arranged, setArranged] = useState(
    /** @type {Arranged} */ ({ headings: [], width: 0, height: 0, lit: null }),
  );

  useEffect(() => {
    const [roomElement, canvasElement, legendElement] = [room.current, canvas.current, legend.current];
    if (!roomElement || !canvasElement || !legendElement) return undefined;
    const { fleet } = live;
    const drawn = createPicture({ canvas: canvasElement, fleet });
    picture.current = drawn;
    let structure = -1;
    let arrangedAt = Number.NEGATIVE_INFINITY;
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    let frame = 0;

    function arrange() {
      clearTimeout(timer);
      timer = undefined;
      structure = fleet.structure();
      arrangedAt = performance.now();
      const width = /** @type {HTMLElement} */ (roomElement).clientWidth;
      const { headings, height } = drawn.arrange({
        width,
        ...heightFor(/** @type {HTMLElement} */ (roomElement)),
        scale: devicePixelRatio,
      });
      setArranged({ headings, width, height, lit: light(drawn) });
      // Drawn in a task of its own: to arrange and to draw ten thousand cells is too long for one.
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(drawn.paint);
    }

    function repaint() {
      drawn.colour(readPalette(/** @type {HTMLElement} */ (legendElement)));
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
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', repaint);
    drawn.colour(readPalette(legendElement));
    return () => {
      clearTimeout(timer);
      cancelAnimationFrame(frame);
      stopWatching();
      resizes.disconnect();
      system.removeEventListener('change', repaint);
      picture.current = null;
    };
  }, [live, theme]);

  /** @param {Picture} drawn @returns {number | null} */
  function light(drawn) {
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

  // What is wrong with a sensor changes by itself.
  const moves = query.has('look') || query.has('state');
  useEffect(() => {
    if (!moves) return undefined;
    return clock.subscribe(() => {
      if (!picture.current) return;
      const lit = light(picture.current);
      picture.current.paint();
      setArranged((now) => (now.lit === lit ? now : { ...now, lit }));
    });
  }, [moves, clock]);

  return { room, canvas, legend, picture, arranged };
}

/** About half of the screen; all of what is left where the wall has the screen to itself. @param {HTMLElement} room @returns {{ height: number, isAll: boolean }} px */
function heightFor(room) {
  if (document.fullscreenElement?.contains(room)) return { height: room.clientHeight, isAll: true };
  return { height: Math.max(280, Math.min(640, Math.round(innerHeight * 0.5))), isAll: false };
}
