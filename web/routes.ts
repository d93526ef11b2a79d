import { signal } from '@preact/signals';
import { v5 } from 'uuid';

export type Route = { view: string; device?: string; sensor?: string };

const NOT_FOUND: Route = { view: 'not-found' };

/** @param pages names of the pages that features bring, each also the only segment of its address */
export function routeOf(path: string, pages: readonly string[]): Route {
  const parts = decode(path);
  if (parts === null) return NOT_FOUND;
  if (parts.length === 0) return { view: 'fleet' };
  const [first = '', device = '', third, sensor = ''] = parts;
  if (parts.length === 1 && pages.includes(first)) return { view: first };
  if (first !== 'devices' || !device) return NOT_FOUND;
  if (parts.length === 2) return { view: 'device', device };
  if (parts.length === 4 && third === 'sensors' && sensor) return { view: 'sensor', device, sensor };
  return NOT_FOUND;
}

function decode(path: string): string[] | null {
  try {
    return path.split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    return null;
  }
}

/** The UUID namespace of device names, equal to that of schema/ids.ts. A test compares the two. */
export const NAMESPACE = '6f1c2f3e-52a4-4d0b-9a57-1d0c3b7e8a44';

const IN_PATHS = ['.', '..'];

/** Returns the name if the API finds the device or sensor by it, otherwise the id: a birth may name it otherwise than its topic. */
function addressPart(namespace: string, id: string, name: string | null | undefined): string {
  const bytes = bytesOf(namespace);
  if (!name || IN_PATHS.includes(name) || bytes.length !== 16) return id;
  return v5(name, bytes) === id ? name : id;
}

/** Converts a UUID to bytes. The package `uuid` accepts a namespace as text only if its UUID version is known. */
const bytesOf = (id: string): Uint8Array =>
  Uint8Array.from(id.replaceAll('-', '').match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

/** @param device id, or the name if the id is unknown @returns for a name that no path can hold, a search */
export function deviceHref(device: string, name?: string | null): string {
  const part = addressPart(NAMESPACE, device, name);
  return IN_PATHS.includes(part) ? `/?show=devices&name=${part}` : `/devices/${encodeURIComponent(part)}`;
}

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

/** The end of the year 9999 in epoch ms. ISO 8601 allows later years only by agreement. */
const LATEST_MS = 253_402_300_799_999;

/** @param text time in ISO 8601 or epoch ms @returns epoch ms; the limits leave room for ranges and time zones on both sides */
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
export function createRouter({ window, pages }: { window: Window; pages: readonly string[] }) {
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
    routeOf: (path: string) => routeOf(path, pages),
    go,
    /** Opens a page, so that Back later returns the focus to the opened cell. @param opened key of the cell */
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
