import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { StreamStatus } from '../../../../../web/api/stream/connection.ts';
import { Stream } from '../../../../../web/api/stream/index.ts';
import type { Connect, Listeners, TabState } from '../../../../../web/api/stream/messages.ts';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

class Hub {
  received: Array<TabState | 'closed'> = [];
  connections = 0;
  tab!: Listeners;

  connect: Connect = (listeners) => {
    this.connections++;
    this.tab = listeners;
    return { post: (state) => this.received.push(state), close: () => this.received.push('closed') };
  };

  report = (status: StreamStatus) => this.tab.onMessage({ type: 'status', status });
  take = () => this.received.splice(0).map((state) => (state === 'closed' ? state : (state.wants ?? 'same')));
}

function open() {
  const hubs = [new Hub(), new Hub()];
  const statuses: StreamStatus[] = [];
  const document = Object.assign(new EventTarget(), { hidden: false });
  const window = new EventTarget();
  const stream = new Stream({
    ways: hubs.map(({ connect }) => connect),
    page: { document, window } as never,
    onItems: () => {},
    onStats: () => {},
    onStatus: (status) => statuses.push(status),
    onRefused: () => {},
  });
  const [first, second] = hubs as [Hub, Hub];
  return {
    ...{ stream, first, second, statuses, window },
    hide(isHidden: boolean) {
      document.hidden = isHidden;
      document.dispatchEvent(new Event('visibilitychange'));
    },
  };
}

test('Stream of a tab: it follows a target: the state is sent at once, and repeated; an equal target is not sent', () => {
  const { stream, first } = open();
  stream.follow({});
  stream.follow({});
  expect(first.take()).toEqual(['snapshot', 'snapshot']);
  first.report('live');
  jest.advanceTimersByTime(2000);
  expect(first.take()).toEqual(['same']);
  stream.again();
  expect(first.take()).toEqual(['fresh']);
});

test('Stream of a tab: hidden: its status is paused, unless the connection is lost; shown again: it needs a snapshot', () => {
  const { stream, first, statuses, hide } = open();
  stream.follow({});
  first.report('live');
  first.take();
  hide(true);
  expect(first.received).toMatchObject([{ target: {}, isShown: false, wants: undefined }]);
  first.report('reconnecting');
  first.report('live');
  first.take();
  hide(false);
  expect(first.take()).toEqual(['snapshot']);
  expect(statuses).toEqual(['live', 'paused', 'reconnecting', 'paused', 'live']);
});

test('Stream of a tab: the hub stops answering: Reconnecting is reported, and the tab connects again', () => {
  const { stream, first, statuses } = open();
  stream.follow({});
  first.report('live');
  jest.advanceTimersByTime(6000);
  expect([first.connections, statuses.at(-1)]).toEqual([2, 'reconnecting']);
  expect(first.take().slice(-2)).toEqual(['closed', 'snapshot']);
});

test.each([
  ['its script cannot be loaded', (hub: Hub) => hub.tab.onFailed()],
  ['it never answers', () => jest.advanceTimersByTime(15_000)],
])('Stream of a tab: the first way to a hub fails, because %s: the next way is used', (_, fail) => {
  const { stream, first, second } = open();
  stream.follow({});
  fail(first);
  expect([first.connections, second.connections]).toEqual([1, 1]);
  expect(second.take()).toEqual(['snapshot']);
});

test('Stream of a tab: the page is left, and shown again by the button Back: it leaves the hub, and connects again', () => {
  const { stream, first, window } = open();
  stream.follow({});
  first.take();
  window.dispatchEvent(new Event('pagehide'));
  expect(first.take()).toEqual(['closed']);
  window.dispatchEvent(Object.assign(new Event('pageshow'), { persisted: true }));
  expect([first.connections, first.take()]).toEqual([2, ['snapshot']]);
});

test('Stream of a tab: another tab begins to lead: the state is sent again', () => {
  const { stream, first } = open();
  stream.follow({});
  first.take();
  first.tab.onNewHub();
  expect(first.take()).toEqual(['snapshot']);
});
