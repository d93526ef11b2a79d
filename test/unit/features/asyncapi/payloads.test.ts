import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { ZodType } from 'zod';
import { CHANNELS } from '../../../../api/features/asyncapi/channels.ts';
import { MESSAGES } from '../../../../api/features/asyncapi/messages.ts';
import { Announcer } from '../../../../api/features/external-broker/interest.ts';
import { PAYLOADS } from '../../../../api/http/contract/payloads.ts';
import { decode } from '../../../../api/ingest/decode/index.ts';
import { MessageBatch } from '../../../../api/ingest/decode/message-batch.ts';
import { readBirth } from '../../../../api/ingest/registry/birth-message.ts';
import { readStatus } from '../../../../api/ingest/registry/status.ts';
import { liveItem, liveTopic, readItems, statsTopic } from '../../../../api/live/messages.ts';
import { ProcessStats, parseSnapshot } from '../../../../api/observability/process-stats.ts';
import { type Identity, identifyDevice, identifySensor } from '../../../../schema/ids.ts';
import { KINDS, parseTopic } from '../../../../schema/topics.ts';
import { until } from '../../../support/until.ts';

const NOW = Date.UTC(2026, 10, 21, 12);
const DEVICE = identifyDevice('my-desk') as Identity;

type Json = Record<string, unknown>;

/** @returns true if ingest accepts every value */
const measurements =
  (contentType: string): ((content: unknown) => boolean) =>
  (content) => {
    const batch = new MessageBatch({ receivedAt: NOW, oldest: 0, newest: 2 * NOW, relative: true });
    decode(Buffer.from(JSON.stringify(content)), contentType, batch);
    // Ingest checks names later, at the lookup of their ids.
    const isNamed = [...batch.sensors.keys()].every((sensor) => identifySensor(DEVICE.id, sensor));
    return batch.refused.length === 0 && isNamed;
  };

const birth = (content: unknown) =>
  readBirth(Buffer.from(JSON.stringify(content)), DEVICE, NOW).refused.length === 0;

const status = (content: unknown) => Boolean(readStatus(Buffer.from(JSON.stringify(content)), NOW));

function isTaken(read: (content: unknown) => boolean, content: unknown) {
  try {
    return read(content);
  } catch {
    return false;
  }
}

const name = fc.oneof(
  fc.constantFrom('temperature', 'Lüftung 1', '0b61a3c4-8a0e-5a43-9d57-7b2c8f0f6c11'),
  fc
    .string({ unit: 'grapheme', minLength: 1, maxLength: 8 })
    .filter((text) => !/[\p{Cc}\p{Cs}\uFFFD\uFEFF\uFFFE]/u.test(text) && text.length <= 32),
);
const notName = fc.constantFrom(5, null, '', 'a\u0000', 'a\u0085b', '\u007f', 'x'.repeat(129), true, [], {});
const notWords = notName.filter((one) => one !== null);
const number = fc.double({ noNaN: true, noDefaultInfinity: true });
const notNumber = fc.constantFrom('1', null, true, [], {});
const notValue = fc.constantFrom('1', null, [], {});
const instant = fc.integer({ min: 1_000_000_000_000, max: NOW });
const time = fc.oneof(
  instant,
  instant.map((ms) => new Date(ms).toISOString()),
  fc.constantFrom('2026-11-21T08:00:00', '2026-11-21T08:00:00+02:00', '2026-11-21T08:00Z'),
);
const notTime = fc.constantFrom(1.5, 'yesterday', '', '2026-13-01', null, true, {});
const interval = fc.integer({ min: 1, max: 2 ** 31 - 1 });
const notInterval = fc.constantFrom(0, -1, 1.5, 2 ** 31, '1', true);

const plain = fc.record(
  { sensor_id: name, ts: time, value: number },
  { requiredKeys: ['sensor_id', 'value'] },
);
const record = fc.record(
  { n: name, t: fc.integer({ min: 2 ** 28, max: NOW / 1000 }), v: number },
  { requiredKeys: ['n', 'v'] },
);
const reading = fc.oneof(
  number,
  fc.boolean(),
  fc.constantFrom(null, 'on'),
  fc.dictionary(fc.constantFrom('level', 'volts'), number, { maxKeys: 2 }),
  fc.array(fc.oneof(number, fc.constant(null)), { maxLength: 3 }),
);
const map = fc.record(
  { ts: time, temperature: fc.oneof(number, fc.boolean()), humidity: reading, battery: reading },
  { requiredKeys: ['temperature'] },
);
const sensor = fc.record(
  { sensor_id: name, name, type: name, unit: name, interval_ms: interval },
  { requiredKeys: ['sensor_id'] },
);
const birthFields = fc.record({ session: instant, name, site: name }, { requiredKeys: [] });

/** Each kind of payload: valid contents, and wrong values of single fields. */
const KINDS_OF_PAYLOAD: Record<
  string,
  {
    schema: ZodType;
    read: (content: unknown) => boolean;
    good: fc.Arbitrary<Json>;
    wrap: (one: Json) => unknown;
    wrong: Array<[string, fc.Arbitrary<unknown>]>;
  }
> = {
  'plain JSON': {
    schema: PAYLOADS.PlainMeasurements,
    read: measurements('application/json'),
    good: plain,
    wrap: (one) => [one],
    wrong: [
      ['sensor_id', notName],
      ['ts', notTime],
      ['value', notValue],
    ],
  },
  'plain JSON, alone': {
    schema: PAYLOADS.PlainMeasurements,
    read: measurements('application/json'),
    good: plain,
    wrap: (one) => one,
    wrong: [
      ['sensor_id', notName],
      ['ts', notTime],
      ['value', notValue],
    ],
  },
  'a map of sensors': {
    schema: PAYLOADS.SensorMaps,
    read: measurements('application/json'),
    good: map,
    wrap: (one) => [{ temperature: 1 }, one],
    wrong: [
      ['temperature', fc.constantFrom([[1]], [{ t: 1 }])],
      ['sensor_id', notWords],
      ['value', notValue],
    ],
  },
  'a map of sensors, alone': {
    schema: PAYLOADS.SensorMaps,
    read: measurements('application/json'),
    good: fc
      .tuple(map, fc.dictionary(fc.constantFrom('s', 't', 'v'), reading))
      .map(([one, labels]) => ({ ...labels, ...one })),
    wrap: (one) => one,
    wrong: [['temperature', fc.constantFrom([[1]], [{ t: 1 }])]],
  },
  SenML: {
    schema: PAYLOADS.SenmlPack,
    read: measurements('application/senml+json'),
    good: record,
    wrap: (one) => [{ bt: 0 }, one],
    wrong: [
      ['n', fc.constantFrom(5, null, true)],
      ['t', notNumber],
      ['v', notNumber],
      ['bn', fc.constantFrom(5, null)],
      ['bt', notNumber],
      ['bv', notNumber],
      ['bver', fc.constantFrom(11, '10', null)],
    ],
  },
  'SenML as application/json': {
    schema: PAYLOADS.Measurements,
    read: measurements('application/json'),
    good: record,
    wrap: (one) => [{ bt: 0 }, one],
    wrong: [
      ['n', fc.constantFrom(5, null, true)],
      ['t', notNumber],
      ['v', notNumber],
      ['bver', fc.constantFrom(11, '10', null)],
    ],
  },
  'a birth': {
    schema: MESSAGES.Birth,
    read: birth,
    good: birthFields,
    wrap: (one) => ({ ...one, sensors: [{ sensor_id: 's' }] }),
    wrong: [
      ['name', notWords],
      ['site', notWords],
    ],
  },
  'a sensor of a birth': {
    schema: MESSAGES.Birth,
    read: birth,
    good: sensor,
    wrap: (one) => ({ session: NOW, sensors: [one] }),
    wrong: [
      ['sensor_id', notWords],
      ['type', notWords],
      ['unit', notWords],
      ['name', notWords],
      ['interval_ms', notInterval],
    ],
  },
  'a status': {
    schema: MESSAGES.Status,
    read: status,
    good: fc.record(
      { state: fc.constantFrom('online', 'offline'), session: instant },
      { requiredKeys: ['state'] },
    ),
    wrap: (one) => one,
    wrong: [['state', fc.constantFrom('away', '', null, 5)]],
  },
};

describe.each(Object.entries(KINDS_OF_PAYLOAD))('%s', (_, { schema, read, good, wrap, wrong }) => {
  test('AsyncAPI payload: random valid content: the published schema and ingest both accept it', () => {
    fc.assert(
      fc.property(good, (one) => {
        expect([schema.safeParse(wrap(one)).error, isTaken(read, wrap(one))]).toEqual([undefined, true]);
      }),
    );
  });

  test.each(wrong)('AsyncAPI payload: invalid %s: refused by schema and by ingest', (field, values) => {
    fc.assert(
      fc.property(good, values, (one, value) => {
        const broken = wrap({ ...one, [field]: value });
        expect([schema.safeParse(broken).success, isTaken(read, broken)]).toEqual([false, false]);
      }),
    );
  });
});

test('AsyncAPI: described topics: those that ingest subscribes to', () => {
  const received = Object.values(CHANNELS).filter(({ action }) => action === 'receive');
  const topics = received.map(({ address }) => address.replaceAll(/[{}]/g, ''));
  expect(topics.map((topic) => parseTopic(topic)?.kind)).toEqual([...KINDS]);
});

test('AsyncAPI: published live items: match their schema', () => {
  const { address } = CHANNELS.live;
  expect(liveTopic(DEVICE.id)).toBe(address.replace('{device}', DEVICE.id));
  const named = { name: 'Temperature', type: 'temperature', unit: 'Cel', site: null };
  const known = { id: DEVICE.id, name: 'my-desk' } as never;
  const items = [{ ts: NOW, value: 21.5 }].map((newest) =>
    liveItem(known, { id: DEVICE.id, ...named, ...newest } as never),
  );
  expect(MESSAGES.LiveItems.safeParse(items).error).toBeUndefined();
  expect(readItems(DEVICE.id, Buffer.from(JSON.stringify(items)))).toEqual(items);
});

test('AsyncAPI: published statistics of a process: match their schema', () => {
  expect(statsTopic('p')).toBe(CHANNELS.stats.address.replace('{process}', 'p'));
  let now = NOW;
  const pressure = () => ({ in_flight: 1, window: 8, window_limit: 64, waiting: 2 });
  const processStats = new ProcessStats({ clock: () => now, pressure });
  const account = { received: 2, stored: 1, merged: 0, refused: 1, skipped: 0 };
  for (const commitMs of [0, 0.1, 5, 1e9]) processStats.note(account, commitMs);
  now += 1000;
  const snapshot = processStats.snapshot();
  expect(snapshot.commits).toHaveLength(4);
  expect(MESSAGES.StatsSnapshot.safeParse(snapshot).error).toBeUndefined();
  expect(parseSnapshot(Buffer.from(JSON.stringify(snapshot)))).toEqual(snapshot);
});

test('AsyncAPI: published announcements of followed devices: match their schema', async () => {
  const sent: string[] = [];
  const announcer = new Announcer({ devices: () => ['+'], send: (payload) => void sent.push(payload) });
  announcer.change();
  await until(() => sent.length > 0);
  announcer.stop();
  expect(MESSAGES.ReadersAnnouncement.safeParse(JSON.parse(String(sent[0]))).error).toBeUndefined();
});
