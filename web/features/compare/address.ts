import { itemHref } from '../../routes.ts';

/** A sensor in the address of a comparison. Each member is an id or a name. */
type Ref = { device: string; sensor: string };

/** Maximum number of sensors of one comparison. */
export const MOST_COMPARED = 8;

/** @param text reference `DEVICE/SENSOR`, each part percent-encoded */
export function parseRef(text: string): Ref | null {
  const slash = text.indexOf('/');
  if (slash < 1 || slash === text.length - 1) return null;
  try {
    return {
      device: decodeURIComponent(text.slice(0, slash)),
      sensor: decodeURIComponent(text.slice(slash + 1)),
    };
  } catch {
    return null;
  }
}

/** @returns reference `DEVICE/SENSOR`, each part percent-encoded */
export const writeRef = ({ device, sensor }: Ref): string =>
  `${encodeURIComponent(device)}/${encodeURIComponent(sensor)}`;

/** @returns the reference of a sensor, with names if the API finds the sensor by these names */
export const refOf = (item: {
  device_id: string;
  sensor_id: string;
  device?: string | null;
  name?: string | null;
}): string =>
  itemHref(item)
    .replace(/^\/devices\//, '')
    .replace('/sensors/', '/');

/** @param query with one parameter `s` for each sensor @returns distinct references, at most `MOST_COMPARED` */
export const readRefs = (query: URLSearchParams): string[] =>
  [...new Set(query.getAll('s').filter((text) => parseRef(text) !== null))].slice(0, MOST_COMPARED);

/** @returns references of the sensors whose lines are hidden */
export const readHidden = (query: URLSearchParams): ReadonlySet<string> => new Set(query.getAll('hidden'));

/**
 * @param query query of the view; its other parameters stay
 * @param hidden references of the sensors whose lines are hidden
 * @returns address of the comparison
 */
export function compareHref(
  refs: string[],
  query: URLSearchParams = new URLSearchParams(),
  hidden: ReadonlySet<string> = readHidden(query),
): string {
  const rest = [...query]
    .filter(([name]) => name !== 's' && name !== 'hidden')
    .map((pair) => String(new URLSearchParams([pair])));
  // A slash needs no encoding in a query. An unencoded slash keeps the address readable.
  const own = (name: string, ref: string) => `${name}=${encodeURIComponent(ref).replaceAll('%2F', '/')}`;
  const all = [
    ...refs.map((ref) => own('s', ref)),
    ...refs.filter((ref) => hidden.has(ref)).map((ref) => own('hidden', ref)),
    ...rest,
  ];
  return all.length > 0 ? `/compare?${all.join('&')}` : '/compare';
}
