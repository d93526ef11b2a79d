import { signal } from '@preact/signals';
import { v5 } from 'uuid';

/** The views and their addresses. `VIEWS` of the server has the same ones. */
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

/** Views of one address each, which the header leads to, by the first part of it. */
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

/** @returns its decoded segments; null when the encoding is broken */
function decode(path: string): string[] | null {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** The namespace of device names; schema/ids.js has the same, and a test compares the two. */
export const NAMESPACE = '6f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44';

/** A browser takes these out of a path, however they are written. */
const IN_PATHS = ['.', '..'];

/**
 * The part of an address for a device or a sensor: its name where the API finds it by that, else its id. A name in a birth may differ
 * from the one in the topic, which the id is made of.
 *
 * @param namespace a UUID: `NAMESPACE` for devices, the device's id for its sensors
 */
function addressPart(namespace: string, id: string, name: string | null | undefined): string {
  const bytes = bytesOf(namespace);
  if (!name || IN_PATHS.includes(name) || bytes.length !== 16) return id;
  return v5(name, bytes) === id ? name : id;
}

/** `uuid` takes a namespace as text only with a known version. */
const bytesOf = (id: string): Uint8Array =>
  Uint8Array.from(id.replaceAll('-', '').match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

/**
 * @param device its id, or where that is not known its name
 * @param name with it the address can be read by people
 * @returns devices whose names no path can have are looked for
 */
export function deviceHref(device: string, name?: string | null): string {
  const part = addressPart(NAMESPACE, device, name);
  return IN_PATHS.includes(part) ? `/?show=devices&name=${part}` : `/devices/${encodeURIComponent(part)}`;
}

/**
 * @param device id
 * @param sensor id
 * @param names with them the address can be read by people
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

/** A sensor in the address of a comparison. Each is an id or a name. */
type Ref = { device: string; sensor: string };

/** Sensors of one comparison. */
export const MOST_COMPARED = 8;

/** @param text `DEVICE/SENSOR`, each part percent-encoded */
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

/** @returns `DEVICE/SENSOR`, each part percent-encoded */
export const writeRef = ({ device, sensor }: Ref): string =>
  `${encodeURIComponent(device)}/${encodeURIComponent(sensor)}`;

/** @returns its reference, with names where the API finds it by them */
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
 * @param query with `s` for each sensor
 * @returns references, each once, as many as one can compare
 */
export const readRefs = (query: URLSearchParams): string[] =>
  [...new Set(query.getAll('s').filter((text) => parseRef(text) !== null))].slice(0, MOST_COMPARED);

/** @returns references of the sensors whose lines are hidden */
export const readHidden = (query: URLSearchParams): ReadonlySet<string> => new Set(query.getAll('hidden'));

/**
 * @param query of the view, whose other parameters stay
 * @param hidden sensors whose lines are hidden
 * @returns the address that compares them
 */
export function compareHref(
  refs: string[],
  query: URLSearchParams = new URLSearchParams(),
  hidden: ReadonlySet<string> = readHidden(query),
): string {
  const rest = [...query]
    .filter(([name]) => name !== 's' && name !== 'hidden')
    .map((pair) => String(new URLSearchParams([pair])));
  // A slash may stand in a query as it is, and so a person can read it.
  const own = (name: string, ref: string) => `${name}=${encodeURIComponent(ref).replaceAll('%2F', '/')}`;
  const all = [
    ...refs.map((ref) => own('s', ref)),
    ...refs.filter((ref) => hidden.has(ref)).map((ref) => own('hidden', ref)),
    ...rest,
  ];
  return all.length > 0 ? `/compare?${all.join('&')}` : '/compare';
}

/** @returns one dead letter, opened */
export const deadLetterHref = (id: string): string => `/dead-letters?id=${encodeURIComponent(id)}`;

/** The end of the year 9999. ISO 8601 needs an agreement for later years. */
const LATEST_MS = 253_402_300_799_999;

/**
 * A time as an address has it. Around it there is room for ranges, zones and formats of any kind.
 *
 * @param text ISO 8601 or epoch ms
 * @returns epoch ms, from 1970 to the year 9999; null: none
 */
export function parseTime(text: string | null): number | null {
  const ms = /^\d+$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '');
  return ms >= 0 && ms <= LATEST_MS ? ms : null;
}

/** The current address of the dashboard, and `pageCursors`, `flash` and `opened`. */
export interface Place {
  path: string;
  query: URLSearchParams;
  /** cursors of the pages before this one; kept by the browser's history entry */
  pageCursors: (string | null)[];
  /** message about the last action, shown on arrival; kept there, too */
  flash: string | null;
  /** key of the cell that was opened by keyboard; Back returns the focus to it; kept there, too */
  opened: string | null;
}

/**
 * The address is the state: reload, back and sharing work by themselves.
 *
 * Kept by hand: page cursors, messages and the focus belong to an entry of the browser's history, which preact-iso does not store. wouter
 * stores it, but accepts Preact 10 only.
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
     * Opens a page such that Back returns the focus to the opened cell.
     *
     * @param opened what is found again by this
     */
    open(href: string, opened: string) {
      window.history.replaceState({ ...window.history.state, opened }, '');
      go(href);
    },
    /** @param changes null or empty takes a parameter away */
    changeQuery: (
      changes: Record<string, string | null>,
      how?: { replace?: boolean; pageCursors?: (string | null)[] },
    ) => go(withQuery(place.peek(), changes), how),
  };
}

export type Router = ReturnType<typeof createRouter>;

/** @returns the same path with another query */
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

/** @returns a link that we follow ourselves */
function ownLink(event: MouseEvent, origin: string): HTMLAnchorElement | null {
  const modified = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (modified || event.defaultPrevented || !(event.target instanceof Element)) return null;
  const link = event.target.closest('a');
  const ours = link?.origin === origin && !link.target && link.dataset['native'] === undefined;
  return ours ? link : null;
}
