import { signal } from '@preact/signals';
import type { Zone } from '../format.ts';
import { createZone, isNamedZone, LOCAL, UTC } from '../format.ts';
import type { Quantity, UnitChoices } from '../units.ts';
import { unitsOf } from '../units.ts';

const PREFERENCES_KEY = 'millrace.preferences';
const QUANTITIES: Quantity[] = ['temperature', 'pressure', 'speed', 'energy'];

type Theme = 'auto' | 'light' | 'dark';

export type KeptTexts = Pick<Storage, 'getItem' | 'setItem'>;

export function openStorage(open: () => KeptTexts): KeptTexts {
  try {
    return open();
  } catch {
    return { getItem: () => null, setItem: () => {} };
  }
}

type Choice = { theme: Theme; zone: Zone; units: UnitChoices };

export function createPreferences({
  storage,
  root,
  tabs,
}: Pick<Stored<Choice>, 'storage' | 'tabs'> & { root: HTMLElement }) {
  return createStored<Choice>({
    storage,
    tabs,
    keys: [PREFERENCES_KEY],
    read,
    write: ({ theme, zone, units }) => ({ [PREFERENCES_KEY]: { theme, zone: zone.name, units } }),
    onChange({ theme }) {
      if (theme === 'auto') delete root.dataset['theme'];
      else root.dataset['theme'] = theme;
    },
    // A zone of the same name stays the same object.
    merge: (next, { zone }) => (next.zone.name === zone.name ? { ...next, zone } : next),
  });
}

export type Preferences = ReturnType<typeof createPreferences>;

interface Stored<T> {
  storage: KeptTexts;
  tabs: Pick<EventTarget, 'addEventListener'>;
  keys: readonly string[];
  read: (storage: KeptTexts) => T;
  write: (value: T) => Record<string, unknown>;
  onChange?: (next: T) => void;
  /** combines what another tab stored with the value of this tab */
  merge?: (next: T, now: T) => T;
}

/** Creates a value that this browser stores, and that other tabs change, too. */
export function createStored<T extends object>({
  storage,
  tabs,
  keys,
  read,
  write,
  onChange = () => {},
  merge = (next) => next,
}: Stored<T>) {
  const choice = signal(read(storage));
  let known = textsOf(storage, keys);

  function take(next: T) {
    onChange(next);
    choice.value = next;
  }

  /** A value that this tab could not store stays until another tab stores one. */
  function readAgain() {
    const texts = textsOf(storage, keys);
    if (texts === known) return;
    known = texts;
    take(merge(read(storage), choice.peek()));
  }

  tabs.addEventListener('storage', readAgain);
  return {
    choice,
    change(changes: Partial<T>) {
      // Another tab may have stored a change whose event has not arrived yet, so the stored value is read first.
      readAgain();
      const next = { ...choice.peek(), ...changes };
      for (const [key, value] of Object.entries(write(next))) remember(storage, key, value);
      known = textsOf(storage, keys);
      take(next);
    },
  };
}

/** @returns all stored values as one text, for comparison; JSON has no line break */
function textsOf(storage: KeptTexts, keys: readonly string[]): string {
  try {
    return keys.map((key) => storage.getItem(key)).join('\n');
  } catch {
    return '';
  }
}

function read(storage: KeptTexts): Choice {
  const kept = recallMembers(storage, PREFERENCES_KEY);
  return {
    theme: kept.theme === 'light' || kept.theme === 'dark' ? kept.theme : 'auto',
    zone: kept.zone === 'utc' ? UTC : isNamedZone(kept.zone) ? createZone(kept.zone) : LOCAL,
    units: readUnits(kept.units),
  };
}

function readUnits(kept: unknown): UnitChoices {
  const units: UnitChoices = {};
  for (const quantity of QUANTITIES) {
    const unit = membersOf(kept)[quantity];
    if (typeof unit === 'string' && unitsOf(quantity).includes(unit)) units[quantity] = unit;
  }
  return units;
}

/** @returns null: there is no value, access is denied, or the content is invalid */
export function recall(storage: KeptTexts, key: string): unknown {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

const recallMembers = (storage: KeptTexts, key: string) => membersOf(recall(storage, key));

export const membersOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? { ...value } : {};

/** Stores a value for the next visit of the page. If the storage is denied or full, the value applies until this page is closed. */
export function remember(storage: KeptTexts, key: string, value: unknown) {
  try {
    storage.setItem(key, JSON.stringify(value));
  } catch {
    // The error is ignored, because the page works without a storage.
  }
}
