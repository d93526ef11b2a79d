import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  canPublish,
  canSendFor,
  canSubscribe,
  installationAccount,
} from '../../../api/access/topic-permissions.ts';
import { matchesFilter } from '../../../api/mqtt/embedded/retained.ts';
import { EDGE_FILTERS } from '../../../schema/sparkplug-topics.ts';
import { parseTopic } from '../../../schema/topics.ts';
import { anyAccount, anyTopic, deviceNamed, idOf } from '../../support/mqtt/random-accounts.ts';

const PUMP = deviceNamed('pump');
const GATEWAY = deviceNamed('gateway', 'a', idOf('b'));
const EDGE = deviceNamed('plant/edge');

describe('Permissions: a device of a mapped topic', () => {
  test.each([
    [['pump', idOf('pump')], ['a', idOf('a'), '', '+', '#', 'pump/x'], PUMP],
    [['gateway', 'a', idOf('a'), 'b'], ['pump', 'plant/edge'], GATEWAY],
    [[idOf('+'), idOf('#')], ['+', '#', 'pump'], deviceNamed('+', '#')],
    [['plant/edge'], ['plant', 'edge', 'plant/edge/any'], EDGE],
    [['pump', 'any', '+'], [], installationAccount('operator')],
  ])('Permissions: mapped topic: devices %j allowed, %j refused (case %#)', (own, others, account) => {
    for (const name of own) expect([name, canSendFor(account, name)]).toEqual([name, true]);
    for (const name of others) expect([name, canSendFor(account, name)]).toEqual([name, false]);
  });
});

describe('Permissions: a device may publish', () => {
  test.each([
    ['iot/v1/pump/measurements', PUMP],
    ['iot/v1/pump/birth', PUMP],
    [`iot/v1/${idOf('pump')}/status`, PUMP],
    ['iot/v1/pump/status', deviceNamed(idOf('pump'))],
    ['iot/v1/gateway/status', GATEWAY],
    [`iot/v1/${idOf('a')}/measurements`, GATEWAY],
    ['iot/v1/b/measurements', GATEWAY],
    [`iot/v1/${idOf('plant/edge')}/measurements`, EDGE],
    [`iot/v1/${idOf('a+b')}/measurements`, deviceNamed('a+b')],
  ])('Permissions: a device publishes to %p (case %#): allowed', (topic, account) => {
    expect(canPublish(account, parseTopic(topic))).toBe(true);
  });
});

describe('Permissions: a device may not publish', () => {
  test.each([
    ['iot/v1/valve/measurements', PUMP],
    [`iot/v1/${idOf('valve')}/measurements`, PUMP],
    ['iot/v1/Pump/measurements', PUMP],
    [`iot/v1/${idOf('pump').toUpperCase()}/measurements`, PUMP],
    ['iot/v1/pump /measurements', PUMP],
    ['iot/v1/pump', PUMP],
    ['iot/v1/pump/', PUMP],
    ['iot/v1/pump/other', PUMP],
    ['iot/v1/pump/measurements/', PUMP],
    ['iot/v1//measurements', PUMP],
    ['iot/live/pump', PUMP],
    [`iot/live/${idOf('pump')}`, PUMP],
    ['iot/live/stats/pump', PUMP],
    ['', PUMP],
    ['iot/v1/plant/edge/measurements', EDGE],
    ['iot/v1/edge/measurements', EDGE],
    ['iot/v1/+/measurements', deviceNamed('+')],
    ['iot/v1/#/measurements', deviceNamed('#')],
    ['iot/v1/a+b/measurements', deviceNamed('a+b')],
    ['iot/v1/c/measurements', GATEWAY],
    ['iot/v1/a,b/measurements', GATEWAY],
    ['iot/v1/c/measurements', deviceNamed('gateway', '+', '#', '')],
    ['iot/v1/+/measurements', deviceNamed('gateway', '+', '#', '')],
    ['iot/v1//measurements', deviceNamed('gateway', '+', '#', '')],
    ['iot/v1/pump/measurements', deviceNamed(`iot/v1/pump`)],
  ])('Permissions: a device publishes to %p (case %#): refused', (topic, account) => {
    expect(canPublish(account, parseTopic(topic))).toBe(false);
  });
});

describe('Permissions: a device may subscribe', () => {
  test.each([
    ['iot/v1/pump/#', PUMP],
    ['iot/v1/pump/+', PUMP],
    ['iot/v1/pump/commands/now', PUMP],
    [`iot/v1/${idOf('pump')}/#`, PUMP],
    ['iot/v1/a/#', GATEWAY],
  ])('Permissions: a device subscribes to %p (case %#): allowed', (filter, account) => {
    expect(canSubscribe(account, filter, [])).toBe(true);
  });
});

describe('Permissions: a device may not subscribe', () => {
  test.each([
    ['#', PUMP],
    ['+/v1/pump/#', PUMP],
    ['iot/#', PUMP],
    ['iot/v1/#', PUMP],
    ['iot/v1/+/measurements', PUMP],
    ['iot/v1/valve/#', PUMP],
    ['iot/+/pump/#', PUMP],
    ['iot/live/#', PUMP],
    [`iot/live/${idOf('pump')}`, PUMP],
    ['$SYS/#', PUMP],
    ['$share/ingest/iot/v1/pump/measurements', PUMP],
    ['iot/v1/+/#', deviceNamed('+')],
    ['iot/v1/#', deviceNamed('#')],
    ['iot/v1/+/measurements', deviceNamed('gateway', '+')],
    ['#', deviceNamed('undefined/undefined')],
  ])('Permissions: a device subscribes to %p (case %#): refused', (filter, account) => {
    expect(canSubscribe(account, filter, [])).toBe(false);
  });
});

test('Permissions: a rule of a feature: decides about topics outside the contract, and never about those of Millrace or $SYS', () => {
  const rule = (filter: string, isOwn: (device: string) => boolean) =>
    filter.startsWith('f/') || isOwn(filter);
  const filters = ['f/x', 'pump', 'valve', 'iot/v1/valve/#', '$SYS/f'];
  expect(filters.map((filter) => canSubscribe(PUMP, filter, [() => false, rule]))).toEqual([
    true,
    true,
    false,
    false,
    false,
  ]);
});

test('Permissions: installation account: may publish and subscribe to everything except $SYS topics', () => {
  const account = installationAccount('installation');
  for (const topic of ['iot/v1/pump/measurements', 'iot/live/x', 'spBv1.0/plant/NCMD/edge']) {
    expect(canPublish(account, parseTopic(topic))).toBe(true);
    expect(canSubscribe(account, topic, [])).toBe(true);
  }
  expect(canSubscribe(account, '#', [])).toBe(true);
  expect(canSubscribe(account, '$SYS/#', [])).toBe(false);
});

test('Permissions: installation account: belongs to no device, and has no credential', () => {
  expect(installationAccount('operator')).toEqual({
    name: 'operator',
    isInstallation: true,
    deviceId: '',
    speaksFor: new Set(),
    ids: new Set(),
  });
});

test('Permissions: random topics: an account may publish only for its own device or a device of its list', () => {
  fc.assert(
    fc.property(anyAccount, anyTopic, (who, where) => {
      if (!canPublish(who, parseTopic(where))) return;
      const parsed = parseTopic(where);
      const own = [...who.speaksFor].map(idOf);
      expect(own).toContain(idOf(parsed?.sender ?? String(parsed?.device)));
      expect(where).not.toMatch(/[+#]/);
    }),
    { numRuns: 1000 },
  );
});

test('Permissions: random topic filters: an allowed subscription never matches other devices or live topics', () => {
  const others = ['iot/v1/other/measurements', 'iot/live/other', `iot/v1/${idOf('other')}/status`];
  const nodes = EDGE_FILTERS.map((filter) => filter.replaceAll('+', 'other'));
  const commands = ['spBv1.0/other/NCMD/other', 'spBv1.0/other/DCMD/other/x'];
  fc.assert(
    fc.property(anyAccount, anyTopic, (who, filter) => {
      if (!canSubscribe(who, filter, [])) return;
      for (const topic of [...others, ...nodes, ...commands])
        expect(matchesFilter(filter, topic)).toBe(false);
    }),
    { numRuns: 1000 },
  );
});
