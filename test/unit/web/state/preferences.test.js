import { describe, expect, test } from '@jest/globals';
import { createPreferences } from '../../../../web/state/preferences.ts';

/** @param {string | null} [kept] */
function open(kept = null) {
  let text = kept;
  const storage = /** @type {any} */ ({
    getItem: () => text,
    setItem: (/** @type {string} */ _key, /** @type {string} */ next) => {
      text = next;
    },
  });
  const root = /** @type {any} */ ({ dataset: {} });
  return { preferences: createPreferences({ storage, root }), root, kept: () => text };
}

describe('Preferences', () => {
  test('nothing stored, or something else: defaults', () => {
    for (const text of [null, '{', 'null', '7', '{"units":3}', '{"theme":"pink","units":{"speed":"c"}}']) {
      expect(open(text).preferences.choice.peek()).toEqual({ theme: 'auto', zone: 'local', units: {} });
    }
  });

  test('a chosen unit: stored, and there again', () => {
    const { preferences, kept } = open();
    preferences.change({ units: { pressure: 'bar' } });
    preferences.change({ theme: 'dark' });
    expect(open(kept()).preferences.choice.peek()).toEqual({
      theme: 'dark',
      zone: 'local',
      units: { pressure: 'bar' },
    });
  });

  test('time zone: one that exists is there again, another is not', () => {
    expect(open('{"zone":"Asia/Tokyo"}').preferences.choice.peek().zone).toBe('Asia/Tokyo');
    expect(open('{"zone":"Mars/Phobos"}').preferences.choice.peek().zone).toBe('local');
  });

  test('a unit of another quantity: ignored', () => {
    const { preferences } = open('{"units":{"pressure":"K","temperature":"K","speed":"toString"}}');
    expect(preferences.choice.peek().units).toEqual({ temperature: 'K' });
  });
});
