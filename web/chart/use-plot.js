import { useEffect, useRef } from 'preact/hooks';
import { useObservable, useParts } from '../state/hooks.js';

/** @import UPlot from 'uplot' */

/**
 * A plot that fills an element. It is built anew with another theme, since that means other colours, another zone, or when something
 * else changes that it is built of.
 *
 * @param {(element: HTMLElement, zone: 'local' | 'utc') => { plot: UPlot, stop?: () => void }} build
 * @param {unknown[]} inputs what else it is built of
 * @returns {{ host: { current: HTMLDivElement | null }, chart: { current: UPlot | null } }}
 */
export function usePlot(build, inputs) {
  const { preferences } = useParts();
  const { theme, zone } = useObservable(preferences);
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const chart = useRef(/** @type {UPlot | null} */ (null));

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    let takeAway = () => {};
    const buildAnew = () => {
      takeAway();
      const { plot, stop } = build(element, zone);
      chart.current = plot;
      takeAway = () => {
        stop?.();
        plot.destroy();
        chart.current = null;
      };
    };
    buildAnew();
    const resizes = new ResizeObserver(() =>
      chart.current?.setSize({ width: element.clientWidth, height: element.clientHeight }),
    );
    resizes.observe(element);
    const system = matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', buildAnew);
    return () => {
      system.removeEventListener('change', buildAnew);
      resizes.disconnect();
      takeAway();
    };
  }, [theme, zone, ...inputs]);

  return { host, chart };
}
