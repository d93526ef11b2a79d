import { useEffect, useRef } from 'preact/hooks';
import { useParts } from '../state/hooks.js';

/** @import { FleetSensor } from '../state/fleet-types.js' */

/**
 * Who opened a sensor from the wall by keyboard and comes back finds the focus on the wall, and its cursor on the same cell, as soon as
 * that sensor is known.
 *
 * @param {(sensor: FleetSensor) => void} onReturn the same function as long as the wall is there
 * @returns {{ current: HTMLElement | null }} ref of what takes the focus
 */
export function useReturn(onReturn) {
  const { live, router } = useParts();
  const element = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    const { opened } = router.place.get();
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
