import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canPublish, canSubscribe } from '../../../../api/access/topic-permissions.ts';
import { mayRead, parseEdgeTopic } from '../../../../api/features/sparkplug/topics.ts';
import { matchesFilter } from '../../../../api/mqtt/embedded/retained.ts';
import { EDGE_FILTERS } from '../../../../schema/sparkplug-topics.ts';
import { anyAccount, anyTopic, deviceNamed, idOf } from '../../../support/mqtt/random-accounts.ts';

const PUMP = deviceNamed('pump');
const EDGE = deviceNamed('plant/edge');

test.each([
  ['spBv1.0/plant/NCMD/edge', EDGE],
  ['spBv1.0/plant/DCMD/edge/x', EDGE],
  ['spBv1.0/plant/DCMD/edge/+', EDGE],
  ['spBv1.0/plant/DCMD/edge/#', EDGE],
  ['spBv1.0/STATE/+', PUMP],
  ['spBv1.0/STATE/millrace-1', PUMP],
  ['STATE/millrace-1', PUMP],
])('Permissions: a device subscribes to %p (case %#): allowed', (filter, account) => {
  expect(canSubscribe(account, filter, [mayRead])).toBe(true);
});

test.each([
  ['spBv1.0/#', PUMP],
  ['spBv1.0/STATE/#', PUMP],
  ['STATE/#', PUMP],
  ['spBv1.0/STATE/', PUMP],
  ['spBv1.0/plant/NCMD/+', EDGE],
  ['spBv1.0/+/NCMD/edge', EDGE],
  ['spBv1.0/plant/+/edge', EDGE],
  ['spBv1.0/plant/NCMD/edge/#', EDGE],
  ['spBv1.0/plant/NCMD/edge-2', EDGE],
  ['spBv1.0/plant/NDATA/edge', EDGE],
  ['spBv1.0/plant/DCMD/+/x', EDGE],
  ['spBv1.0/+/NCMD/+', deviceNamed('+/+')],
  ['spBv1.0/plant/DCMD/+/#', deviceNamed('plant/+')],
  ['spBv1.0/STATE/host/#', PUMP],
  ['spBv1.0/STATE/host/x', PUMP],
  ['other/spBv1.0/plant/NCMD/edge', EDGE],
  ['spBv1.0/plant/DCMD/edge/x/y', EDGE],
  ['#', deviceNamed('undefined/undefined')],
])('Permissions: a device subscribes to %p (case %#): refused', (filter, account) => {
  expect(canSubscribe(account, filter, [mayRead])).toBe(false);
});

describe('Permissions: topics on which edge nodes publish', () => {
  test.each([
    ['spBv1.0/plant/NBIRTH/edge', EDGE],
    ['spBv1.0/plant/DDATA/edge/any', EDGE],
    ['spBv1.0/plant/NDEATH/edge', deviceNamed('gateway', 'plant/edge')],
  ])('Permissions: a device publishes to %p (case %#): allowed', (topic, account) => {
    expect(canPublish(account, parseEdgeTopic(topic))).toBe(true);
  });

  test.each([
    ['spBv1.0/pump/NDATA/pump', PUMP],
    ['spBv1.0/STATE/pump', PUMP],
    ['spBv1.0/plant/NDATA/edge-2', EDGE],
    ['spBv1.0/plant-2/NDATA/edge', EDGE],
    ['spBv1.0/plant/NDATA/edge/x', EDGE],
    ['spBv1.0/plant/NCMD/edge', EDGE],
    ['spBv1.0/plant/DCMD/edge/x', EDGE],
    ['spBv1.0/STATE/edge', EDGE],
    ['spBv1.0/plant/DDATA/edge/x', deviceNamed('plant/edge/x')],
  ])('Permissions: a device publishes to %p (case %#): refused', (topic, account) => {
    expect(canPublish(account, parseEdgeTopic(topic))).toBe(false);
  });
});

test('Permissions: random topic filters: an allowed subscription never matches other devices or live topics', () => {
  const others = ['iot/v1/other/measurements', 'iot/live/other', `iot/v1/${idOf('other')}/status`];
  const nodes = EDGE_FILTERS.map((filter) => filter.replaceAll('+', 'other'));
  const commands = ['spBv1.0/other/NCMD/other', 'spBv1.0/other/DCMD/other/x'];
  fc.assert(
    fc.property(anyAccount, anyTopic, (who, filter) => {
      if (!canSubscribe(who, filter, [mayRead])) return;
      for (const topic of [...others, ...nodes, ...commands])
        expect(matchesFilter(filter, topic)).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('Permissions: random topics: an account may publish only for its own edge node or one of its list', () => {
  fc.assert(
    fc.property(anyAccount, anyTopic, (who, where) => {
      const parsed = parseEdgeTopic(where);
      if (!canPublish(who, parsed)) return;
      expect([...who.speaksFor].map(idOf)).toContain(idOf(String(parsed?.sender)));
      expect(where).not.toMatch(/[+#]/);
    }),
    { numRuns: 1000 },
  );
});
