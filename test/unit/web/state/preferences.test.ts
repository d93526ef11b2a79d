import { expect, test } from '@jest/globals';
import { createZone, LOCAL } from '../../../../web/format.ts';
import { createPreferences } from '../../../../web/state/preferences.ts';

function open(kept: string | null = null) {
  const texts = new Map([['millrace.preferences', kept]]);
  const storage = {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, next: string) => texts.set(key, next),
  } as never;
  const root = { dataset: {} } as HTMLElement;
  const tabs = new EventTarget();
  const openTab = () => createPreferences({ storage, root, tabs });
  return { preferences: openTab(), root, tabs, openTab, reopen: () => openTab().choice.peek() };
}

test('Preferences: browser storage is empty or holds invalid content: default preferences apply', () => {
  for (const text of [null, '{', 'null', '7', '{"units":3}', '{"theme":"pink","units":{"speed":"c"}}']) {
    expect(open(text).preferences.choice.peek()).toEqual({
      theme: 'auto',
      zone: LOCAL,
      units: {},
    });
  }
});

test('Preferences: unit and theme are chosen: both are stored, and restored after a reload', () => {
  const { preferences, reopen } = open();
  preferences.change({ units: { pressure: 'bar' } });
  preferences.change({ theme: 'dark' });
  expect(reopen()).toMatchObject({
    theme: 'dark',
    zone: LOCAL,
    units: { pressure: 'bar' },
  });
});

test('Preferences: another browser tab changes the theme: this tab applies the new theme', () => {
  const { preferences, root, tabs, openTab } = open();
  preferences.change({ zone: createZone('Asia/Tokyo') });
  const { zone } = preferences.choice.peek();
  openTab().change({ theme: 'dark', units: { pressure: 'bar' } });
  delete root.dataset.theme;
  tabs.dispatchEvent(new Event('storage'));
  expect(preferences.choice.peek()).toMatchObject({ theme: 'dark', units: { pressure: 'bar' } });
  expect(preferences.choice.peek().zone).toBe(zone);
  expect(root.dataset.theme).toBe('dark');
});

test('Preferences: two browser tabs change different preferences at once: the storage keeps both changes', () => {
  const { preferences, openTab, reopen } = open();
  openTab().change({ theme: 'dark' });
  preferences.change({ units: { speed: 'km/h' } });
  expect(preferences.choice.peek()).toMatchObject({ theme: 'dark', units: { speed: 'km/h' } });
  expect(reopen()).toMatchObject({ theme: 'dark', units: { speed: 'km/h' } });
});

test.each(['forbidden', 'full'])(
  'Preferences: browser storage is %s: chosen preferences apply in the open tab',
  (state) => {
    const fail = () => {
      throw new DOMException(`the storage is ${state}`);
    };
    const storage = {
      getItem: state === 'forbidden' ? fail : () => null,
      setItem: fail,
    } as never;
    const tabs = new EventTarget();
    const preferences = createPreferences({ storage, root: { dataset: {} } as never, tabs });
    preferences.change({ theme: 'dark' });
    tabs.dispatchEvent(new Event('storage'));
    preferences.change({ units: { speed: 'km/h' } });
    expect(preferences.choice.peek()).toMatchObject({ theme: 'dark', units: { speed: 'km/h' } });
  },
);

test('Preferences: stored unit K for the quantity pressure: the stored unit is ignored', () => {
  const { preferences } = open('{"units":{"pressure":"K","temperature":"K","speed":"toString"}}');
  expect(preferences.choice.peek().units).toEqual({ temperature: 'K' });
});
