import { signal } from '@preact/signals';
import type { Zone } from '../format.ts';
import { createZone, isNamedZone, LOCAL, UTC } from '../format.ts';
import { MOST_COMPARED, readRefs } from '../routes.ts';
import type { Quantity, UnitChoices } from '../units.ts';
import { unitsOf } from '../units.ts';

const PREFERENCES_KEY = 'millrace.preferences';
const SIGNALS_KEY = 'millrace.alarm-signals';
const NAME_KEY = 'millrace.name';
const QUANTITIES: Quantity[] = ['temperature', 'pressure', 'speed', 'energy'];

type Theme = 'auto' | 'light' | 'dark';

/** The methods of a storage that this page uses. */
export type KeptTexts = Pick<Storage, 'getItem' | 'setItem'>;

/**
 * Opens a storage of this browser.
 *
 * @param open reads the storage from the window, which throws if the user denies storage
 * @returns the storage; if access is denied, a storage that keeps nothing
 */
export function openStorage(open: () => KeptTexts): KeptTexts {
  try {
    return open();
  } catch {
    return { getItem: () => null, setItem: () => {} };
  }
}

/** How this browser signals a new alarm. */
type Signals = { sound: boolean; notification: boolean };

/** The preferences of a user. `name`: the name with which the user acknowledges alarms */
type Choice = { theme: Theme; zone: Zone; units: UnitChoices; signals: Signals; name: string };

/**
 * Creates the preferences of a user, stored in this browser. Other tabs change them, too.
 *
 * @param options `tabs`: the window, which receives the event `storage` when another tab changes the storage
 */
export function createPreferences({
  storage,
  root,
  tabs,
}: {
  storage: KeptTexts;
  root: HTMLElement;
  tabs: Pick<EventTarget, 'addEventListener'>;
}) {
  const choice = signal(read(storage));
  let known = textsOf(storage);

  function take(next: Choice) {
    if (next.theme === 'auto') delete root.dataset['theme'];
    else root.dataset['theme'] = next.theme;
    choice.value = next;
  }

  /**
   * Adopts the preferences that another tab stored. A preference that this tab could not store stays until another tab stores
   * preferences.
   */
  function readAgain() {
    const texts = textsOf(storage);
    if (texts === known) return;
    known = texts;
    const next = read(storage);
    const { zone } = choice.peek();
    take(next.zone.name === zone.name ? { ...next, zone } : next);
  }

  tabs.addEventListener('storage', readAgain);
  return {
    choice,
    change(changes: Partial<Choice>) {
      // Another tab may have stored a change whose event has not arrived yet, so the stored preferences are read first.
      readAgain();
      const next = { ...choice.peek(), ...changes };
      const { theme, zone, units, signals, name } = next;
      remember(storage, PREFERENCES_KEY, { theme, zone: zone.name, units });
      remember(storage, SIGNALS_KEY, signals);
      remember(storage, NAME_KEY, name);
      known = textsOf(storage);
      take(next);
    },
  };
}

export type Preferences = ReturnType<typeof createPreferences>;

/** @returns all stored preferences as one text, for comparison; JSON has no line break */
function textsOf(storage: KeptTexts): string {
  try {
    return [PREFERENCES_KEY, SIGNALS_KEY, NAME_KEY].map((key) => storage.getItem(key)).join('\n');
  } catch {
    return '';
  }
}

function read(storage: KeptTexts): Choice {
  const kept = recallMembers(storage, PREFERENCES_KEY);
  const { sound, notification } = recallMembers(storage, SIGNALS_KEY);
  return {
    theme: kept.theme === 'light' || kept.theme === 'dark' ? kept.theme : 'auto',
    zone: kept.zone === 'utc' ? UTC : isNamedZone(kept.zone) ? createZone(kept.zone) : LOCAL,
    units: readUnits(kept.units),
    signals: { sound: sound === true, notification: notification === true },
    name: String(recall(storage, NAME_KEY) ?? ''),
  };
}

/** @returns the stored units that exist */
function readUnits(kept: unknown): UnitChoices {
  const units: UnitChoices = {};
  for (const quantity of QUANTITIES) {
    const unit = membersOf(kept)[quantity];
    if (typeof unit === 'string' && unitsOf(quantity).includes(unit)) units[quantity] = unit;
  }
  return units;
}

/**
 * Reads a value that this browser stored.
 *
 * @returns null: there is no value, access is denied, or the content is invalid
 */
export function recall(storage: KeptTexts, key: string): unknown {
  try {
    return JSON.parse(storage.getItem(key) ?? 'null');
  } catch {
    return null;
  }
}

/** @returns the stored object; empty if there is none */
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

const COMPARISON_KEY = 'millrace.comparison';

/**
 * Creates the list of sensors that the user selected for the comparison. The storage of this tab keeps the list, so that users
 * can select sensors in several views.
 */
export function createComparison({ storage }: { storage: KeptTexts }) {
  const refs = signal(readComparison(storage));

  function set(next: string[]) {
    if (next.join('\n') === refs.peek().join('\n')) return;
    refs.value = next;
    remember(storage, COMPARISON_KEY, next);
  }

  return {
    refs,
    set,
    /** Adds a sensor to the comparison, or removes it. */
    toggle(ref: string) {
      const now = refs.peek();
      if (now.includes(ref)) set(now.filter((each) => each !== ref));
      else if (now.length < MOST_COMPARED) set([...now, ref]);
    },
  };
}

function readComparison(storage: KeptTexts): string[] {
  const kept = recall(storage, COMPARISON_KEY);
  return Array.isArray(kept) ? readRefs(new URLSearchParams(kept.map((ref) => ['s', String(ref)]))) : [];
}

export type Comparison = ReturnType<typeof createComparison>;
