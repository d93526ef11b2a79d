import { useEffect } from 'preact/hooks';
import { MOST_SENSORS } from '../state/fleet.js';
import { useServices } from '../state/hooks.js';

/** @import { FleetInfo } from '../api/types.js' */

/** Groups that the API gives at most, and that the wall has tiles for. */
export const MOST_GROUPS = 1000;

/**
 * What a tile of the wall is. A fleet that fits has a cell for each sensor. A larger one has a tile for each device, and beyond
 * a thousand devices one for each site. A chosen site leads back to its devices, and to its sensors where they fit.
 *
 * @typedef {'device' | 'site'} Grouping
 */

/**
 * @param {Pick<FleetInfo, 'sensors' | 'devices' | 'by_type' | 'by_site'>} info
 * @param {{ type: string | null, site: string | null }} filter
 * @returns {Grouping | null} null: the sensors themselves
 */
export function groupingOf(info, { type, site }) {
  if (sensorsOf(info, { type, site }) <= MOST_SENSORS) return null;
  const devices = info.devices.online + info.devices.offline;
  const sites = Object.keys(info.by_site).length;
  return site || devices <= MOST_GROUPS || sites < 2 ? 'device' : 'site';
}

/**
 * @param {Pick<FleetInfo, 'sensors' | 'by_type' | 'by_site'>} info
 * @param {{ type: string | null, site: string | null }} filter
 * @returns {number} no fewer than match. Types and sites that the count leaves out are small
 */
const sensorsOf = ({ sensors, by_type, by_site }, { type, site }) =>
  Math.min(
    sensors,
    type ? (by_type[type] ?? 0) : Number.POSITIVE_INFINITY,
    site ? (by_site[site] ?? 0) : Number.POSITIVE_INFINITY,
  );

/**
 * How much of the window the wall has, by the address: `?full` gives it all of it, `?kiosk` also without its buttons.
 *
 * @param {URLSearchParams} query
 * @returns {{ isFull: boolean, isKiosk: boolean }}
 */
export function wallSize(query) {
  const isKiosk = query.has('kiosk');
  return { isFull: isKiosk || query.has('full'), isKiosk };
}

/**
 * The wall alone, and the button that leads there and back. A browser gives the screen only to a click, so an address that asks for it gets
 * the window.
 *
 * @param {{ current: HTMLElement | null }} element
 */
export function useFullScreen(element) {
  const { router } = useServices();
  const { query } = router.place.value;
  const { isFull, isKiosk } = wallSize(query);

  // Esc and other ways of the browser leave the screen, too.
  useEffect(() => {
    const note = () => {
      if (!document.fullscreenElement && router.place.peek().query.has('full'))
        router.changeQuery({ full: null }, { replace: true });
    };
    document.addEventListener('fullscreenchange', note);
    return () => document.removeEventListener('fullscreenchange', note);
  }, [router]);

  function toggle() {
    if (document.fullscreenElement) return void document.exitFullscreen();
    router.changeQuery({ full: isFull ? null : '1' });
    // Refused by some browsers and policies: the wall still has the window.
    if (!isFull && document.fullscreenEnabled) element.current?.requestFullscreen().catch(() => {});
    return undefined;
  }

  return { isFull, isKiosk, toggle };
}
