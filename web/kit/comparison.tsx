import { signal } from '@preact/signals';
import { itemHref } from '../routes.ts';
import { recall, remember } from '../state/preferences.ts';
import './header.css';
import type { LatestItem } from '../api/types.ts';

/** Each is an id or a name, as addresses have it. */
type Ref = { device: string; sensor: string };

export const MOST_COMPARED = 8;

const KEY = 'millrace.comparison';

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

/**
 * The sensors that a reader wants to compare. This tab remembers them, so that they are collected from row to row and from view to view.
 */
export function createComparison(storage: Storage) {
  const refs = signal(read(storage));

  function set(next: string[]) {
    if (next.join('\n') === refs.peek().join('\n')) return;
    refs.value = next;
    remember(storage, KEY, next);
  }

  return {
    refs,
    set,
    /** Adds it, or takes it away again. */
    toggle(ref: string) {
      const now = refs.peek();
      if (now.includes(ref)) set(now.filter((each) => each !== ref));
      else if (now.length < MOST_COMPARED) set([...now, ref]);
    },
  };
}

function read(storage: Storage): string[] {
  const kept = recall(storage, KEY);
  return Array.isArray(kept) ? readRefs(new URLSearchParams(kept.map((ref) => ['s', String(ref)]))) : [];
}

type Comparison = ReturnType<typeof createComparison>;

let comparison: Comparison | undefined;

/** @returns that of this tab */
export function useComparison(): Comparison {
  comparison ??= createComparison(sessionStorage);
  return comparison;
}

/** Adds a sensor to the comparison, or takes it away again. */
export function CompareButton({
  item,
}: {
  item: Pick<LatestItem, 'device_id' | 'sensor_id' | 'device' | 'name'>;
}) {
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

/** Leads to the comparison; not there as long as nothing is compared. */
export function CompareLink({ isHere }: { isHere: boolean }) {
  const refs = useComparison().refs.value;
  if (refs.length === 0 && !isHere) return null;
  return (
    <a href={compareHref(refs)} aria-current={isHere ? 'page' : undefined}>
      Compare {refs.length > 0 && <span class="compare-count">{refs.length}</span>}
    </a>
  );
}
