import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { identifyDevice } from '../../../../../schema/ids.ts';
import { RELEASE_MS, StreamHub } from '../../../../../web/api/stream/hub.ts';
import type { HubMessage, TabState } from '../../../../../web/api/stream/messages.ts';
import type { Target } from '../../../../../web/api/stream/target.ts';
import { FakeEventSource } from '../../../../support/web/event-source.ts';

const [A = '', B = ''] = ['a', 'b'].map((name) => identifyDevice(name)?.id);

let hub: StreamHub;

beforeEach(() => {
  jest.useFakeTimers();
  FakeEventSource.opened = [];
  hub = new StreamHub({ EventSource: FakeEventSource as never });
});

afterEach(() => {
  hub.end();
  jest.useRealTimers();
});

/** A tab of the hub. */
class Tab {
  messages: HubMessage[] = [];
  state: TabState = { target: null, isShown: true, events: ['alarm'] };

  follow(target: Target | null, wants: TabState['wants'] = 'snapshot') {
    this.#send({ ...this.state, target, wants });
    return this;
  }

  show(isShown: boolean) {
    this.#send({ ...this.state, isShown, ...(isShown && { wants: 'snapshot' }) });
  }

  close = () => hub.remove(this);

  #send(state: TabState) {
    this.state = { ...this.state, target: state.target, isShown: state.isShown };
    hub.take(this, state, (message) => this.messages.push(message));
  }

  /** @returns the sensors since the last call, each event as a text; `.` ends a snapshot */
  takeItems() {
    return this.messages.splice(0).flatMap((message) => {
      if (message.type !== 'items') return [];
      const { items } = JSON.parse(message.text);
      const of = items.map(
        (item: Record<string, unknown>) => `${item.device_id === A ? 'a' : 'b'}${item.value}`,
      );
      return [of.join(' ') + (message.isLast ? '.' : '')];
    });
  }

  get status() {
    return this.messages.flatMap((message) => (message.type === 'status' ? [message.status] : [])).at(-1);
  }
}

/** @param values by device id */
const eventOf = (values: Record<string, number>) =>
  JSON.stringify({
    items: Object.entries(values).map(([device_id, value]) => ({ device_id, sensor_id: 's', value })),
  });

const snapshot = (values: Record<string, number>, id = `x-${Math.random()}`) =>
  FakeEventSource.newest.send('snapshot', eventOf(values), id);
const delta = (values: Record<string, number>) =>
  FakeEventSource.newest.send('delta', eventOf(values), 'x-9');
const urls = () =>
  FakeEventSource.opened.map(({ url }) => url.replace('/api/v1/stream', '').replace(A, 'a').replace(B, 'b'));
const isOpen = () => FakeEventSource.opened.filter(({ isClosed }) => !isClosed).length;

test('Stream hub: twenty tabs of the fleet: one stream, and each tab gets the snapshot', () => {
  const tabs = Array.from({ length: 20 }, () => new Tab());
  for (const tab of tabs.slice(0, 10)) tab.follow({});
  snapshot({ [A]: 1 }, '');
  for (const tab of tabs.slice(10)) tab.follow({});
  snapshot({ [B]: 2 });
  expect(urls()).toEqual(['']);
  expect(tabs.slice(0, 10).map((tab) => tab.takeItems())).toEqual(Array(10).fill(['a1', 'b2.']));
  // These came within the snapshot, so they get all of it at its end.
  expect(tabs.slice(10).map((tab) => tab.takeItems())).toEqual(Array(10).fill(['a1 b2.']));
});

test('Stream hub: a second tab needs less than the stream has: its snapshot needs no request, and it gets only its items', () => {
  const fleet = new Tab().follow({});
  snapshot({ [A]: 1, [B]: 1 });
  delta({ [B]: 2 });
  fleet.takeItems();
  const device = new Tab().follow({ devices: [B] });
  expect(device.takeItems()).toEqual(['b2.']);
  delta({ [A]: 3 });
  delta({ [A]: 4, [B]: 4 });
  expect(device.takeItems()).toEqual(['b4']);
  expect(fleet.takeItems()).toEqual(['a3', 'a4 b4']);
  expect(urls()).toEqual(['']);
});

test('Stream hub: a second tab needs more: the stream is opened again with both', () => {
  new Tab().follow({ devices: [A] });
  snapshot({ [A]: 1 });
  new Tab().follow({ sensors: [[B, 's']] });
  expect(urls()).toEqual(['?device=a', `?device=a&sensor=${encodeURIComponent('b/s')}`]);
  expect(isOpen()).toBe(1);
});

test('Stream hub: a tab is hidden: it gets statistics and further events alone; after a while the stream has only what others need', () => {
  const fleet = new Tab().follow({});
  const device = new Tab().follow({ devices: [B] });
  snapshot({ [A]: 1, [B]: 1 });
  fleet.show(false);
  fleet.messages = [];
  delta({ [A]: 2, [B]: 2 });
  FakeEventSource.newest.send('stats', '{}');
  FakeEventSource.newest.send('alarm', '{}');
  expect(fleet.messages.map(({ type }) => type)).toEqual(['stats', 'event']);
  fleet.show(true);
  expect(fleet.takeItems()).toEqual(['a2 b2.']);
  jest.advanceTimersByTime(RELEASE_MS);
  delta({ [A]: 3 });
  fleet.show(false);
  jest.advanceTimersByTime(RELEASE_MS - 1);
  expect(urls()).toEqual(['']);
  jest.advanceTimersByTime(1);
  expect(urls()).toEqual(['', '?device=b']);
  device.show(true);
});

test('Stream hub: every tab is hidden: the stream ends after a while, and is opened at once for the first shown tab', () => {
  const tabs = [new Tab().follow({}), new Tab().follow({ devices: [A] })];
  snapshot({ [A]: 1 });
  for (const tab of tabs) tab.show(false);
  expect(isOpen()).toBe(1);
  jest.advanceTimersByTime(RELEASE_MS);
  expect([isOpen(), tabs[0]?.status]).toEqual([0, 'paused']);
  tabs[1]?.show(true);
  expect([isOpen(), tabs[1]?.status]).toEqual([1, 'connecting']);
  expect(urls().at(-1)).toBe('?device=a');
});

test.each([
  ['signed out', (tab: Tab) => tab.follow(null)],
  ['closed', (tab: Tab) => tab.close()],
])('Stream hub: the last tab is %s: the stream ends at once', (_, leave) => {
  const tab = new Tab().follow({});
  snapshot({ [A]: 1 });
  leave(tab);
  expect(isOpen()).toBe(0);
});

test('Stream hub: a tab wakes after its lease has ended: it gets a snapshot', () => {
  const tab = new Tab().follow({});
  snapshot({ [A]: 1 });
  jest.advanceTimersByTime(60_000);
  expect(isOpen()).toBe(0);
  tab.takeItems();
  hub.take(tab, { ...tab.state }, (message) => tab.messages.push(message));
  snapshot({ [A]: 2 });
  expect(tab.takeItems()).toEqual(['a2.']);
});

test('Stream hub: the stream begins with a snapshot again: later tabs get no sensor that is missing in it', () => {
  const tab = new Tab().follow({});
  snapshot({ [A]: 1, [B]: 1 });
  tab.follow({}, 'fresh');
  snapshot({ [B]: 2 });
  expect(new Tab().follow({}).takeItems()).toEqual(['b2.']);
  // The browser has reconnected by itself.
  snapshot({ [A]: 3 });
  expect(new Tab().follow({}).takeItems()).toEqual(['a3.']);
  expect(urls()).toEqual(['', '']);
});

test('Stream hub: the connection is lost or refused: every tab learns of it, also a hidden one', () => {
  const shown = new Tab().follow({});
  const hidden = new Tab().follow({});
  hidden.show(false);
  snapshot({ [A]: 1 });
  FakeEventSource.newest.send('error');
  expect([shown.status, hidden.status]).toEqual(['reconnecting', 'reconnecting']);
  FakeEventSource.newest.refuse();
  for (const tab of [shown, hidden]) expect(tab.messages).toContainEqual({ type: 'refused' });
});
