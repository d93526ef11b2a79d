import { expect, test } from '@jest/globals';
import { createAlarmSettings } from '../../../../../web/features/alarms/open-alarms.ts';

function open() {
  const texts: Map<string, string> = new Map();
  const browser = {
    getItem: (key: string) => texts.get(key) ?? null,
    setItem: (key: string, next: string) => void texts.set(key, next),
  };
  const tabs = new EventTarget();
  const openTab = () => createAlarmSettings({ storage: { browser, tab: browser }, tabs });
  return { settings: openTab(), tabs, openTab, texts };
}

test('Alarm settings: browser storage is empty or holds invalid content: default settings apply', () => {
  const { settings, openTab, texts } = open();
  const defaults = { signals: { sound: false, notification: false }, name: '' };
  expect(settings.choice.peek()).toEqual(defaults);
  texts.set('millrace.alarm-signals', '{"sound":3}');
  expect(openTab().choice.peek()).toEqual(defaults);
});

test('Alarm settings: signals and user name are chosen: restored after a reload, and adopted by another tab', () => {
  const { settings, tabs, openTab } = open();
  const other = openTab();
  settings.change({ name: 'Ada' });
  settings.change({ signals: { sound: true, notification: false } });
  const chosen = { signals: { sound: true, notification: false }, name: 'Ada' };
  expect(openTab().choice.peek()).toEqual(chosen);
  tabs.dispatchEvent(new Event('storage'));
  expect(other.choice.peek()).toEqual(chosen);
});
