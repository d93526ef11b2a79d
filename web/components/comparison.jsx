import { signal } from '@preact/signals';
import { itemHref } from '../routes.js';
import { recall, remember } from '../state/preferences.js';
import '../styles/header.css';

/** @import { LatestItem } from '../api/types.js' */

/**
 * The sensors that a reader wants to compare. This tab remembers them, so that they are collected from row to row and from view to view.
 *
 * @typedef {{ device: string, sensor: string }} Ref each an id or a name, as addresses have it
 */

export const MOST_COMPARED = 8;

const KEY = 'millrace.comparison';

/** @param {string} text `DEVICE/SENSOR`, each part percent-encoded @returns {Ref | null} */
export function parseRef(text) {
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

/** @param {Ref} ref @returns {string} `DEVICE/SENSOR`, each part percent-encoded */
export const writeRef = ({ device, sensor }) => `${encodeURIComponent(device)}/${encodeURIComponent(sensor)}`;

/** @param {{ device_id: string, sensor_id: string, device?: string | null, name?: string | null }} item @returns {string} its reference, with names where the API finds it by them */
export const refOf = (item) =>
  itemHref(item)
    .replace(/^\/devices\//, '')
    .replace('/sensors/', '/');

/**
 * @param {URLSearchParams} query with `s` for each sensor
 * @returns {string[]} references, each once, as many as one can compare
 */
export const readRefs = (query) =>
  [...new Set(query.getAll('s').filter((text) => parseRef(text) !== null))].slice(0, MOST_COMPARED);

/**
 * @param {string[]} refs
 * @param {URLSearchParams} [query] of the view, whose other parameters stay
 * @returns {string} the address that compares them
 */
export function compareHref(refs, query = new URLSearchParams()) {
  const rest = [...query].filter(([name]) => name !== 's').map((pair) => String(new URLSearchParams([pair])));
  // A slash may stand in a query as it is, and so a person can read it.
  const own = refs.map((ref) => `s=${encodeURIComponent(ref).replaceAll('%2F', '/')}`);
  const all = [...own, ...rest];
  return all.length > 0 ? `/compare?${all.join('&')}` : '/compare';
}

/** @param {Storage} storage */
export function createComparison(storage) {
  const refs = signal(read(storage));

  /** @param {string[]} next */
  function set(next) {
    if (next.join('\n') === refs.peek().join('\n')) return;
    refs.value = next;
    remember(storage, KEY, next);
  }

  return {
    refs,
    set,
    /** Adds it, or takes it away again. @param {string} ref */
    toggle(ref) {
      const now = refs.peek();
      if (now.includes(ref)) set(now.filter((each) => each !== ref));
      else if (now.length < MOST_COMPARED) set([...now, ref]);
    },
  };
}

/** @param {Storage} storage @returns {string[]} */
function read(storage) {
  const kept = recall(storage, KEY);
  return Array.isArray(kept) ? readRefs(new URLSearchParams(kept.map((ref) => ['s', String(ref)]))) : [];
}

/** @typedef {ReturnType<typeof createComparison>} Comparison */

/** @type {Comparison | undefined} */
let comparison;

/** @returns {Comparison} that of this tab */
export function useComparison() {
  comparison ??= createComparison(sessionStorage);
  return comparison;
}

/**
 * Adds a sensor to the comparison, or takes it away again.
 *
 * @param {{ item: Pick<LatestItem, 'device_id' | 'sensor_id' | 'device' | 'name'> }} props
 */
export function CompareButton({ item }) {
  const comparison = useComparison();
  const refs = comparison.refs.value;
  const ref = refOf(item);
  const isIn = refs.includes(ref);
  const isFull = !isIn && refs.length >= MOST_COMPARED;
  const name = `${item.name ?? item.sensor_id} of ${item.device ?? item.device_id}`;
  return (
    <button
      type="button"
      class="compare-button"
      aria-pressed={isIn}
      aria-label={`Compare ${name}`}
      title={isFull ? `${MOST_COMPARED} sensors are compared at most` : 'Compare with other sensors'}
      disabled={isFull}
      onClick={() => comparison.toggle(ref)}
    >
      {isIn ? '✓' : '+'} <span class="compare-word">compare</span>
    </button>
  );
}

/** Leads to the comparison; not there as long as nothing is compared. @param {{ isHere: boolean }} props */
export function CompareLink({ isHere }) {
  const refs = useComparison().refs.value;
  if (refs.length === 0 && !isHere) return null;
  return (
    <a href={compareHref(refs)} aria-current={isHere ? 'page' : undefined}>
      Compare {refs.length > 0 && <span class="compare-count">{refs.length}</span>}
    </a>
  );
}
