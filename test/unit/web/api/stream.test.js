import { expect, test } from '@jest/globals';
import { createStream } from '../../../../web/api/stream.ts';

/** Stands in for EventSource: the test sends its events. */
class Source extends EventTarget {
  static CLOSED = 2;
  /** @type {Source[]} */
  static opened = [];
  readyState = 1;

  constructor() {
    super();
    Source.opened.push(this);
  }

  close() {}

  /** @param {string} type @param {string} data @param {string} lastEventId of the last event that had one */
  send(type, data, lastEventId) {
    this.dispatchEvent(Object.assign(new Event(type), { data, lastEventId }));
  }
}

test('Event stream: a snapshot spans several events: only the last event, which has a new id, completes the snapshot', () => {
  /** @type {Array<[string, boolean]>} */
  const received = [];
  const stream = createStream({
    EventSource: /** @type {any} */ (Source),
    onItems: (text, isLast) => received.push([text, isLast]),
    onStats: () => {},
    onStatus: () => {},
    onRefused: () => {},
  });
  stream.follow({});
  const source = /** @type {Source} */ (Source.opened.at(-1));
  source.send('snapshot', 'a', '');
  source.send('snapshot', 'b', 'x-2');
  source.send('delta', 'c', 'x-3');
  // Here the browser reconnects to an API process that does not know the last event id.
  source.send('snapshot', 'd', 'x-3');
  source.send('snapshot', 'e', 'y-1');
  stream.stop();
  expect(received).toEqual([
    ['a', false],
    ['b', true],
    ['c', false],
    ['d', false],
    ['e', true],
  ]);
});
