import { expect, test } from '@jest/globals';
import { createConnection } from '../../../../../web/api/stream/connection.ts';
import { FakeEventSource } from '../../../../support/web/event-source.ts';

test('Event stream: a snapshot spans several events: only the last event, which has a new id, completes the snapshot', () => {
  const received: Array<[string, boolean]> = [];
  const connection = createConnection({
    EventSource: FakeEventSource as never,
    onItems: (text, { isLast }) => received.push([text, isLast]),
    onStats: () => {},
    onEvent: () => {},
    onStatus: () => {},
    onRefused: () => {},
  });
  connection.open('/api/v1/stream');
  const source = FakeEventSource.newest;
  source.send('snapshot', 'a', '');
  source.send('snapshot', 'b', 'x-2');
  source.send('delta', 'c', 'x-3');
  // Here the browser reconnects to an API process that does not know the last event id.
  source.send('snapshot', 'd', 'x-3');
  source.send('snapshot', 'e', 'y-1');
  connection.close();
  expect(received).toEqual([
    ['a', false],
    ['b', true],
    ['c', false],
    ['d', false],
    ['e', true],
  ]);
});
