import { expect, test } from '@jest/globals';
import { Rebirths } from '../../../../api/features/sparkplug/host.ts';
import { Sequence } from '../../../../api/features/sparkplug/nodes.ts';

const born = () => {
  const sequence = new Sequence();
  sequence.begin(0);
  return sequence;
};

test.each([
  ['a number is missing', 2],
  ['many numbers are missing', 200],
  ['a number is repeated', 0],
  ['a number is invalid', 256],
])('Sparkplug sequence numbers: %s: one gap is reported, and the next number is accepted', (_, seq) => {
  const sequence = born();
  expect(sequence.follows(seq, false)).toBe(false);
  expect(sequence.follows((seq + 1) % 256, false)).toBe(true);
});

test('Sparkplug sequence numbers: an unknown edge node: the first number is accepted, and later gaps are reported', () => {
  const sequence = new Sequence();
  expect(sequence.follows(77, false)).toBe(true);
  expect(sequence.follows(79, false)).toBe(false);
});

test('Sparkplug sequence numbers: the broker redelivers messages: no gap is reported, also if the first delivery was lost', () => {
  const sequence = born();
  sequence.follows(1, false);
  sequence.follows(2, false);
  expect([1, 2].map((seq) => sequence.follows(seq, true))).toEqual([true, true]);
  expect(sequence.follows(3, true)).toBe(true);
  expect(sequence.follows(4, false)).toBe(true);
});

function start() {
  let now = 1_748_736_000_000;
  const sent: string[] = [];
  const rebirths = new Rebirths({
    send: (topic) => void sent.push(topic),
    clock: () => now,
    onRequest: () => {},
  });
  const pass = (ms: number) => {
    now += ms;
  };
  return { rebirths, sent, pass };
}

test('Sparkplug rebirth requests: many requests in 20 s: at most one command in 10 s for each edge node', () => {
  const { rebirths, sent, pass } = start();
  for (let second = 0; second <= 20; second++) {
    rebirths.request('a');
    rebirths.request('a');
    if (second === 5) rebirths.request('b');
    pass(1000);
  }
  expect(sent).toEqual(['a', 'b', 'a', 'a']);
});

test('Sparkplug rebirth requests: the clock is set back an hour: the next command is sent at once', () => {
  const { rebirths, sent, pass } = start();
  rebirths.request('a');
  pass(-3_600_000);
  rebirths.request('a');
  expect(sent).toHaveLength(2);
});
