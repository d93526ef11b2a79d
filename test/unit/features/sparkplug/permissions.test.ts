import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { canPublish, canSubscribe, deviceAccount } from '../../../../api/access/topic-permissions.ts';
import { mayRead, parseEdgeTopic } from '../../../../api/features/sparkplug/topics.ts';
import { matchesFilter } from '../../../../api/mqtt/embedded/retained.ts';
import { identifyDevice } from '../../../../schema/ids.ts';
import { EDGE_FILTERS } from '../../../../schema/sparkplug-topics.ts';

const idOf = (text: string) => String(identifyDevice(text)?.id);

const device = (account: string, ...devices: string[]) =>
  deviceAccount({ account, deviceId: idOf(account), devices });

const PUMP = device('pump');
const EDGE = device('plant/edge');

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
  ['spBv1.0/+/NCMD/+', device('+/+')],
  ['spBv1.0/plant/DCMD/+/#', device('plant/+')],
  ['spBv1.0/STATE/host/#', PUMP],
  ['spBv1.0/STATE/host/x', PUMP],
  ['other/spBv1.0/plant/NCMD/edge', EDGE],
  ['spBv1.0/plant/DCMD/edge/x/y', EDGE],
  ['#', device('undefined/undefined')],
])('Permissions: a device subscribes to %p (case %#): refused', (filter, account) => {
  expect(canSubscribe(account, filter, [mayRead])).toBe(false);
});

describe('Permissions: topics on which edge nodes publish', () => {
  test.each([
    ['spBv1.0/plant/NBIRTH/edge', EDGE],
    ['spBv1.0/plant/DDATA/edge/any', EDGE],
    ['spBv1.0/plant/NDEATH/edge', device('gateway', 'plant/edge')],
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
    ['spBv1.0/plant/DDATA/edge/x', device('plant/edge/x')],
  ])('Permissions: a device publishes to %p (case %#): refused', (topic, account) => {
    expect(canPublish(account, parseEdgeTopic(topic))).toBe(false);
  });
});

/** A topic level of any client: often a name, a wildcard or a keyword that has a meaning. */
const level = fc.oneof(
  fc.constantFrom('+', '#', '', 'pump', 'valve', 'plant', 'edge', 'STATE', 'live', 'v1', 'iot', 'spBv1.0'),
  fc.constantFrom('pump', 'valve', 'plant/edge', '+').map(idOf),
  fc.string({ unit: 'binary', maxLength: 4 }).filter((text) => !text.includes('/')),
);
const kind = fc.constantFrom('measurements', 'birth', 'status', '#', '+', 'NDATA', 'DDATA', 'NCMD', 'DCMD');
const topic = fc.oneof(
  fc.tuple(fc.constant('iot/v1'), level, kind).map((levels) => levels.join('/')),
  fc.tuple(fc.constant('spBv1.0'), level, kind, level).map((levels) => levels.join('/')),
  fc.tuple(fc.constant('spBv1.0'), level, kind, level, level).map((levels) => levels.join('/')),
  fc.array(fc.oneof(level, kind), { maxLength: 6 }).map((levels) => levels.join('/')),
);
const name = fc
  .oneof(
    level,
    fc.tuple(level, level).map((levels) => levels.join('/')),
  )
  .filter((text) => identifyDevice(text) !== null);
const account = fc
  .record({ of: name, devices: fc.array(name, { maxLength: 2 }) })
  .map(({ of, devices }) => device(of, ...devices));

test('Permissions: random topic filters: an allowed subscription never matches other devices or live topics', () => {
  const others = ['iot/v1/other/measurements', 'iot/live/other', `iot/v1/${idOf('other')}/status`];
  const nodes = EDGE_FILTERS.map((filter) => filter.replaceAll('+', 'other'));
  const commands = ['spBv1.0/other/NCMD/other', 'spBv1.0/other/DCMD/other/x'];
  fc.assert(
    fc.property(account, topic, (who, filter) => {
      if (!canSubscribe(who, filter, [mayRead])) return;
      for (const topic of [...others, ...nodes, ...commands])
        expect(matchesFilter(filter, topic)).toBe(false);
    }),
    { numRuns: 1000 },
  );
});

test('Permissions: random topics: an account may publish only for its own edge node or one of its list', () => {
  fc.assert(
    fc.property(account, topic, (who, where) => {
      const parsed = parseEdgeTopic(where);
      if (!canPublish(who, parsed)) return;
      expect([...who.speaksFor].map(idOf)).toContain(idOf(String(parsed?.sender)));
      expect(where).not.toMatch(/[+#]/);
    }),
    { numRuns: 1000 },
  );
});
