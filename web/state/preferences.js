import { createObservable } from './observable.js';

const KEY = 'millrace.preferences';

/**
 * @typedef {'auto' | 'light' | 'dark'} Theme
 * @typedef {'local' | 'utc'} Zone
 * @typedef {{ theme: Theme, zone: Zone }} Choice
 */

/**
 * The choices of a reader, stored in this browser.
 *
 * @param {{ storage: Storage, root: HTMLElement }} deps
 */
export function createPreferences({ storage, root }) {
  const choice = createObservable(read(storage));

  return {
    ...choice,
    /** @param {Partial<Choice>} changes */
    change(changes) {
      const next = { ...choice.get(), ...changes };
      if (next.theme === 'auto') delete root.dataset['theme'];
      else root.dataset['theme'] = next.theme;
      write(storage, next);
      choice.set(next);
    },
  };
}

/** @typedef {ReturnType<typeof createPreferences>} Preferences */

/** @param {Storage} storage @returns {Choice} */
function read(storage) {
  /** @type {Partial<Choice>} */
  let kept = {};
  try {
    kept = JSON.parse(storage.getItem(KEY) ?? '{}');
  } catch {
    // Storage is forbidden or holds something else: the defaults are as good a start as any.
  }
  return {
    theme: kept.theme === 'light' || kept.theme === 'dark' ? kept.theme : 'auto',
    zone: kept.zone === 'utc' ? 'utc' : 'local',
  };
}

/** @param {Storage} storage @param {Choice} choice */
function write(storage, choice) {
  try {
    storage.setItem(KEY, JSON.stringify(choice));
  } catch {
    // Forbidden or full: the choice still holds as long as this page is open.
  }
}
