import { expect, test } from '@jest/globals';
import { Outbox } from '../../../simulator/outbox.ts';

/** Creates an outbox that sends into a list. The test acknowledges the entries. */
function openable({ limit, window, bytes = 1e6 }: { limit: number; window: number; bytes?: number }) {
  const sent: { payload: string; acknowledge: () => void }[] = [];
  const acknowledged: string[] = [];
  const dropped: string[] = [];
  const outbox = new Outbox({
    limit: { messages: limit, bytes },
    window,
    send: ({ payload }, acknowledge) => sent.push({ payload: String(payload), acknowledge }),
    onAcknowledged: ({ payload }) => acknowledged.push(String(payload)),
    onDropped: ({ payload }) => dropped.push(String(payload)),
  });
  const push = (payloads: string) => {
    for (const payload of payloads) outbox.push({ topic: 't', payload, samples: 1 });
  };
  return { outbox, push, sent, acknowledged, dropped, sentText: () => sent.map((m) => m.payload).join('') };
}

test('Simulator outbox: messages: sent in order, at most one window of them unacknowledged', () => {
  const { outbox, push, sent, acknowledged, sentText } = openable({ limit: 10, window: 2 });
  outbox.open();
  push('abcd');
  expect(sentText()).toBe('ab');
  sent[0]?.acknowledge();
  expect(sentText()).toBe('abc');
  expect(acknowledged).toEqual(['a']);
  expect(outbox.size()).toBe(3);
});

test('Simulator outbox: no connection: messages wait, and the oldest are dropped above the limit', () => {
  const { outbox, push, dropped, sentText } = openable({ limit: 3, window: 8 });
  push('abcde');
  expect(dropped).toEqual(['a', 'b']);
  outbox.open();
  expect(sentText()).toBe('cde');
});

test('Simulator outbox: a new connection opens: unacknowledged messages are sent again first, and are never dropped', () => {
  const { outbox, push, sent, dropped, acknowledged, sentText } = openable({ limit: 2, window: 2 });
  outbox.open();
  push('abcd');
  outbox.close();
  // A late acknowledgement of the old connection must not settle a message that is no longer in flight.
  sent[0]?.acknowledge();
  expect(acknowledged).toEqual([]);
  push('e');
  expect(dropped).toEqual(['c']);
  outbox.open();
  outbox.close();
  outbox.open();
  expect(sentText()).toBe('ababab');
  expect(outbox.size()).toBe(4);
});

test('Simulator outbox: more bytes than the limit: waiting messages are dropped, sent messages are not', () => {
  const { outbox, push, sent, dropped, acknowledged } = openable({ limit: 100, window: 2, bytes: 3 * 257 });
  outbox.open();
  push('abcde');
  expect(dropped).toEqual(['c', 'd']);
  expect(outbox.size()).toBe(3);
  for (const { acknowledge } of sent.slice()) acknowledge();
  push('f');
  expect(acknowledged).toEqual(['a', 'b']);
  expect(dropped).toEqual(['c', 'd']);
  // After a new connection, a message counts as many bytes as before.
  outbox.close();
  push('ghi');
  expect(dropped).toEqual(['c', 'd', 'g', 'h']);
});
