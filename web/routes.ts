import { signal } from '@preact/signals';
import { v5 } from 'uuid';

/** The views and their addresses. The server lists the same addresses in `VIEWS`. */
export type Route =
  | { view: 'fleet' }
  | { view: 'device'; device: string }
  | { view: 'sensor'; device: string; sensor: string }
  | { view: 'compare' }
  | { view: 'changes' }
  | { view: 'pipeline' }
  | { view: 'dead-letters' }
  | { view: 'alarms' }
  | { view: 'import' }
  | { view: 'credentials' }
  | { view: 'not-found' };

/** Views with a single address, by the first part of the path. */
const ALONE: Record<string, Route> = {
  compare: { view: 'compare' },
  changes: { view: 'changes' },
  pipeline: { view: 'pipeline' },
  'dead-letters': { view: 'dead-letters' },
  alarms: { view: 'alarms' },
  import: { view: 'import' },
  credentials: { view: 'credentials' },
};

export function routeOf(path: string): Route {
  const parts = decode(path);
  if (parts === null) return { view: 'not-found' };
  if (parts.length === 0) return { view: 'fleet' };
  const [first = '', device = '', third, sensor = ''] = parts;
  if (parts.length === 1 && Object.hasOwn(ALONE, first)) return ALONE[first] ?? { view: 'not-found' };
  if (first !== 'devices' || !device) return { view: 'not-found' };
  if (parts.length === 2) return { view: 'device', device };
  if (parts.length === 4 && third === 'sensors' && sensor) return { view: 'sensor', device, sensor };
  return { view: 'not-found' };
}

/** @returns the decoded segments of a path; null: the encoding is invalid */
function decode(path: string): string[] | null {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** The UUID namespace of device names, equal to that of schema/ids.ts. A test compares the two. */
export const NAMESPACE = '6f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44';

/** Path segments that browsers remove, even if the segments are percent-encoded. */
const IN_PATHS = ['.', '..'];

/**
 * Returns the part of an address for a device or a sensor: the name if the API finds the device or sensor by this name,
 * otherwise the id. The id is derived from the name in the topic. The name in a birth message may differ from the name in the
 * topic.
 *
 * @param namespace UUID: `NAMESPACE` for devices, the device id for sensors
 */
function addressPart(namespace: string, id: string, name: string | null | undefined): string {
  const bytes = bytesOf(namespace);
  if (!name || IN_PATHS.includes(name) || bytes.length !== 16) return id;
  return v5(name, bytes) === id ? name : id;
}

/** Converts a UUID to bytes. The package `uuid` accepts a namespace as text only if its UUID version is known. */
const bytesOf = (id: string): Uint8Array =>
  Uint8Array.from(id.replaceAll('-', '').match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

/**
 * @param device id, or the name if the id is unknown
 * @param name device name, which makes the address readable
 * @returns path of the device page; for a name that no path can hold, a search
 */
export function deviceHref(device: string, name?: string | null): string {
  const part = addressPart(NAMESPACE, device, name);
  return IN_PATHS.includes(part) ? `/?show=devices&name=${part}` : `/devices/${encodeURIComponent(part)}`;
}

/**
 * @param device device id
 * @param sensor sensor id
 * @param names names of device and sensor, which make the address readable
 */
export function sensorHref(
  device: string,
  sensor: string,
  names: { device?: string | null; sensor?: string | null } = {},
): string {
  const parts = [addressPart(NAMESPACE, device, names.device), addressPart(device, sensor, names.sensor)].map(
    encodeURIComponent,
  );
  return `/devices/${parts[0]}/sensors/${parts[1]}`;
}

export const itemHref = ({
  device_id,
  sensor_id,
  device,
  name,
}: {
  device_id: string;
  sensor_id: string;
  device?: string | null;
  name?: string | null;
}): string => sensorHref(device_id, sensor_id, { device, sensor: name });

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

/**
 * @param query with one parameter `s` for each sensor
 * @returns distinct references, at most `MOST_COMPARED`
 */
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

export const deadLetterHref = (id: string): string => `/dead-letters?id=${encodeURIComponent(id)}`;

/** The end of the year 9999 in epoch ms. ISO 8601 allows later years only by agreement. */
const LATEST_MS = 253_402_300_799_999;

/**
 * Reads a time of an address. The limits of the accepted times leave room for ranges and time zones on both sides.
 *
 * @param text time in ISO 8601 or epoch ms
 * @returns time in epoch ms, from 1970 to the year 9999; null: the text is no such time
 */
export function parseTime(text: string | null): number | null {
  const ms = /^\d+$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '');
  return ms >= 0 && ms <= LATEST_MS ? ms : null;
}

/** The current address of the dashboard, and the state of its entry in the browser history. */
export interface Place {
  path: string;
  query: URLSearchParams;
  /** cursors of the earlier pages; stored in the history entry */
  pageCursors: (string | null)[];
  /** message about the last action, shown when the page opens; stored in the history entry */
  flash: string | null;
  /** key of the cell that was opened by keyboard, to which Back returns the focus; stored in the history entry */
  opened: string | null;
}

/**
 * Creates the router. The state of a view is its address, so reload, Back and sharing work.
 *
 * The router uses no library. Page cursors, messages and the focus belong to an entry of the browser history. preact-iso stores
 * no state in history entries. wouter does, but accepts only Preact 10.
 */
export function createRouter({ window }: { window: Window }) {
  const place = signal<Place>({ ...read(), opened: null });

  function read(): Place {
    const { pathname, search } = window.location;
    return {
      path: pathname,
      query: new URLSearchParams(search),
      pageCursors: window.history.state?.pageCursors ?? [],
      flash: window.history.state?.flash ?? null,
      opened: window.history.state?.opened ?? null,
    };
  }

  function go(
    href: string,
    {
      replace = false,
      pageCursors = [],
      flash,
    }: { replace?: boolean; pageCursors?: (string | null)[]; flash?: string } = {},
  ) {
    window.history[replace ? 'replaceState' : 'pushState']({ pageCursors, flash }, '', href);
    place.value = read();
  }

  window.addEventListener('popstate', () => {
    place.value = read();
  });
  window.document.addEventListener('click', (event) => {
    const link = ownLink(event, window.location.origin);
    if (!link) return;
    event.preventDefault();
    go(link.pathname + link.search);
    window.scrollTo(0, 0);
  });

  return {
    place,
    go,
    /**
     * Opens a page, so that Back later returns the focus to the opened cell.
     *
     * @param opened key of the cell
     */
    open(href: string, opened: string) {
      window.history.replaceState({ ...window.history.state, opened }, '');
      go(href);
    },
    /** @param changes new values of parameters by name; null or an empty text removes a parameter */
    changeQuery: (
      changes: Record<string, string | null>,
      how?: { replace?: boolean; pageCursors?: (string | null)[] },
    ) => go(withQuery(place.peek(), changes), how),
  };
}

export type Router = ReturnType<typeof createRouter>;

export function withQuery(
  { path, query }: Pick<Place, 'path' | 'query'>,
  changes: Record<string, string | null>,
): string {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next.size > 0 ? `${path}?${next}` : path;
}

/** @returns the clicked link, if the router handles it without a page load */
function ownLink(event: MouseEvent, origin: string): HTMLAnchorElement | null {
  const modified = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (modified || event.defaultPrevented || !(event.target instanceof Element)) return null;
  const link = event.target.closest('a');
  const ours = link?.origin === origin && !link.target && link.dataset['native'] === undefined;
  return ours ? link : null;
}
