import { useEffect } from 'preact/hooks';
import type { FleetInfo } from '../api/types.ts';
import { MOST_SENSORS } from '../state/fleet.ts';
import { useServices } from '../state/hooks.ts';

/** Groups that the API gives at most, and that the wall has tiles for. */
export const MOST_GROUPS = 1000;

/**
 * What a tile of the wall is. A fleet that fits has a cell for each sensor. A larger one has a tile for each device, and beyond
 * a thousand devices one for each site. A chosen site leads back to its devices, and to its sensors where they fit.
 */
export type Grouping = 'device' | 'site';

/** @returns null: the sensors themselves */
export function groupingOf(
  info: Pick<FleetInfo, 'sensors' | 'devices' | 'by_type' | 'by_site'>,
  { type, site }: { type: string | null; site: string | null },
): Grouping | null {
  if (sensorsOf(info, { type, site }) <= MOST_SENSORS) return null;
  const devices = info.devices.online + info.devices.offline;
  const sites = Object.keys(info.by_site).length;
  return site || devices <= MOST_GROUPS || sites < 2 ? 'device' : 'site';
}

/** @returns no fewer than match. Types and sites that the count leaves out are small */
const sensorsOf = (
  { sensors, by_type, by_site }: Pick<FleetInfo, 'sensors' | 'by_type' | 'by_site'>,
  { type, site }: { type: string | null; site: string | null },
): number =>
  Math.min(
    sensors,
    type ? (by_type[type] ?? 0) : Number.POSITIVE_INFINITY,
    site ? (by_site[site] ?? 0) : Number.POSITIVE_INFINITY,
  );

/** How much of the window the wall has, by the address: `?full` gives it all of it, `?kiosk` also without its buttons. */
export function wallSize(query: URLSearchParams): { isFull: boolean; isKiosk: boolean } {
  const isKiosk = query.has('kiosk');
  return { isFull: isKiosk || query.has('full'), isKiosk };
}

/**
 * The wall alone, and the button that leads there and back. A browser gives the screen only to a click, so an address that asks for it gets
 * the window.
 */
export function useFullScreen(element: { current: HTMLElement | null }) {
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
