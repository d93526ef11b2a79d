import { expect, test } from '@jest/globals';
import { Rebirths } from '../../../../api/features/sparkplug/host.ts';
import { decodePayload } from '../../../../api/features/sparkplug/payload.ts';
import { T0 } from '../../../support/features/sparkplug/vectors.ts';

const [NODE, OTHER] = ['spBv1.0/plant/NCMD/edge-1', 'spBv1.0/plant/NCMD/edge-2'];

/** Creates rebirth requests, and records the commands that they send. */
function createCase() {
  const sent = [] as [topic: string, at: number | null][];
  const state = { now: T0, counted: 0 };
  const rebirths = new Rebirths({
    send: (topic, payload) => void sent.push([topic, decodePayload(payload).timestamp]),
    clock: () => state.now,
    onRequest: () => state.counted++,
  });
  return { sent, state, rebirths };
}

test('Sparkplug rebirth request: repeated within 10 s: one command is sent and counted', () => {
  const { sent, state, rebirths } = createCase();
  rebirths.request(NODE);
  state.now += 9_999;
  rebirths.request(NODE);
  expect([sent, state.counted]).toEqual([[[NODE, T0]], 1]);
});

test('Sparkplug rebirth request: repeated after 10 s: the command is sent again', () => {
  const { sent, state, rebirths } = createCase();
  rebirths.request(NODE);
  state.now += 10_000;
  rebirths.request(NODE);
  expect([sent.map(([, at]) => at), state.counted]).toEqual([[T0, T0 + 10_000], 2]);
});

test('Sparkplug rebirth request: for another edge node within 10 s: a command is sent to each node', () => {
  const { sent, rebirths } = createCase();
  rebirths.request(NODE);
  rebirths.request(OTHER);
  expect(sent.map(([topic]) => topic)).toEqual([NODE, OTHER]);
});

test('Sparkplug rebirth request: the clock was set back by an hour: the next command is sent', () => {
  const { sent, state, rebirths } = createCase();
  rebirths.request(NODE);
  state.now -= 3_600_000;
  rebirths.request(NODE);
  expect(sent).toHaveLength(2);
});
