import { signal } from '@preact/signals';
import { v5 } from 'uuid';

/**
 * The views and their addresses. `VIEWS` of the server has the same ones.
 *
 * @typedef {{ view: 'fleet' } | { view: 'device', device: string }
 *   | { view: 'sensor', device: string, sensor: string }
 *   | { view: 'compare' } | { view: 'changes' } | { view: 'pipeline' } | { view: 'dead-letters' }
 *   | { view: 'alarms' } | { view: 'import' } | { view: 'credentials' } | { view: 'not-found' }} Route
 */

/** Views of one address each, which the header leads to, by the first part of it. @type {Record<string, Route>} */
const ALONE = {
  compare: { view: 'compare' },
  changes: { view: 'changes' },
  pipeline: { view: 'pipeline' },
  'dead-letters': { view: 'dead-letters' },
  alarms: { view: 'alarms' },
  import: { view: 'import' },
  credentials: { view: 'credentials' },
};

/** @param {string} path @returns {Route} */
export function routeOf(path) {
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

/** @param {string} path @returns {string[] | null} its decoded segments; null when the encoding is broken */
function decode(path) {
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
 * @param {string} namespace a UUID: `NAMESPACE` for devices, the device's id for its sensors
 * @param {string} id
 * @param {string | null | undefined} name
 * @returns {string}
 */
function addressPart(namespace, id, name) {
  const bytes = bytesOf(namespace);
  if (!name || IN_PATHS.includes(name) || bytes.length !== 16) return id;
  return v5(name, bytes) === id ? name : id;
}

/** `uuid` takes a namespace as text only with a known version. @param {string} id @returns {Uint8Array} */
const bytesOf = (id) =>
  Uint8Array.from(id.replaceAll('-', '').match(/../g) ?? [], (digits) => Number.parseInt(digits, 16));

/**
 * @param {string} device its id, or where that is not known its name
 * @param {string | null} [name] with it the address can be read by people
 * @returns {string} devices whose names no path can have are looked for
 */
export function deviceHref(device, name) {
  const part = addressPart(NAMESPACE, device, name);
  return IN_PATHS.includes(part) ? `/?show=devices&name=${part}` : `/devices/${encodeURIComponent(part)}`;
}

/**
 * @param {string} device id
 * @param {string} sensor id
 * @param {{ device?: string | null, sensor?: string | null }} [names] with them the address can be read by people
 * @returns {string}
 */
export function sensorHref(device, sensor, names = {}) {
  const parts = [addressPart(NAMESPACE, device, names.device), addressPart(device, sensor, names.sensor)].map(
    encodeURIComponent,
  );
  return `/devices/${parts[0]}/sensors/${parts[1]}`;
}

/** @param {{ device_id: string, sensor_id: string, device?: string | null, name?: string | null }} item @returns {string} */
export const itemHref = ({ device_id, sensor_id, device, name }) =>
  sensorHref(device_id, sensor_id, { device, sensor: name });

/** @param {string} id @returns {string} one dead letter, opened */
export const deadLetterHref = (id) => `/dead-letters?id=${encodeURIComponent(id)}`;

/** The year 9999: what is later has more digits than ISO 8601 lets one write without agreeing on it. */
const LATEST_MS = 253_402_300_799_999;

/**
 * A time as an address has it. Around it there is room for ranges, zones and formats of any kind.
 *
 * @param {string | null} text ISO 8601 or epoch ms
 * @returns {number | null} epoch ms, from 1970 to the year 9999; null: none
 */
export function parseTime(text) {
  const ms = /^\d+$/.test(text ?? '') ? Number(text) : Date.parse(text ?? '');
  return ms >= 0 && ms <= LATEST_MS ? ms : null;
}

/**
 * @typedef {object} Place the current address of the dashboard, and `pageCursors`, `flash` and `opened`
 * @property {string} path
 * @property {URLSearchParams} query
 * @property {(string | null)[]} pageCursors cursors of the pages before this one; kept by the browser's history entry
 * @property {string | null} flash message about the last action, shown on arrival; kept there, too
 * @property {string | null} opened what was opened from here by keyboard, where one came back to it: there the focus belongs; kept there, too
 */

/**
 * The address is the state: reload, back and sharing work by themselves.
 *
 * Kept by hand: page cursors, messages and the focus belong to an entry of the browser's history, which preact-iso does not store. wouter
 * stores it, but accepts Preact 10 only.
 *
 * @param {{ window: Window }} deps
 */
export function createRouter({ window }) {
  const place = signal(/** @type {Place} */ ({ ...read(), opened: null }));

  /** @returns {Place} */
  function read() {
    const { pathname, search } = window.location;
    return {
      path: pathname,
      query: new URLSearchParams(search),
      pageCursors: window.history.state?.pageCursors ?? [],
      flash: window.history.state?.flash ?? null,
      opened: window.history.state?.opened ?? null,
    };
  }

  /** @param {string} href @param {{ replace?: boolean, pageCursors?: (string | null)[], flash?: string }} [how] */
  function go(href, { replace = false, pageCursors = [], flash } = {}) {
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
     * Goes where the focus has to come back from.
     *
     * @param {string} href
     * @param {string} opened what is found again by this
     */
    open(href, opened) {
      window.history.replaceState({ ...window.history.state, opened }, '');
      go(href);
    },
    /**
     * @param {Record<string, string | null>} changes null or empty takes a parameter away
     * @param {{ replace?: boolean, pageCursors?: (string | null)[] }} [how]
     */
    changeQuery: (changes, how) => go(withQuery(place.peek(), changes), how),
  };
}

/** @typedef {ReturnType<typeof createRouter>} Router */

/**
 * @param {Pick<Place, 'path' | 'query'>} place
 * @param {Record<string, string | null>} changes
 * @returns {string} the same path with another query
 */
export function withQuery({ path, query }, changes) {
  const next = new URLSearchParams(query);
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  return next.size > 0 ? `${path}?${next}` : path;
}

/** @param {MouseEvent} event @param {string} origin @returns {HTMLAnchorElement | null} a link that we follow ourselves */
function ownLink(event, origin) {
  const modified = event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey;
  if (modified || event.defaultPrevented || !(event.target instanceof Element)) return null;
  const link = event.target.closest('a');
  const ours = link?.origin === origin && !link.target && link.dataset['native'] === undefined;
  return ours ? link : null;
}
