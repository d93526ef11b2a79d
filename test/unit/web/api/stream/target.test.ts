import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { identifyDevice } from '../../../../../schema/ids.ts';
import {
  addressOf,
  covers,
  FIGURES_ALONE,
  selectorOf,
  type Target,
  unionOf,
} from '../../../../../web/api/stream/target.ts';

const IDS = ['a', 'b', 'c'].map((name) => identifyDevice(name)?.id ?? '');
const SENSORS = ['s', 't'];
const ITEMS = IDS.flatMap((device_id) => SENSORS.map((sensor_id) => ({ device_id, sensor_id })));

const sensor = fc.tuple(fc.constantFrom(...IDS), fc.constantFrom(...SENSORS));
const target: fc.Arbitrary<Target> = fc.oneof(
  fc.constant({}),
  fc.constant(FIGURES_ALONE),
  fc.record({ devices: fc.uniqueArray(fc.constantFrom(...IDS), { minLength: 1 }) }),
  fc.record({ sensors: fc.array(sensor, { minLength: 1 }) }),
  fc.record({ devices: fc.array(fc.constantFrom(...IDS), { minLength: 1 }), sensors: fc.array(sensor) }),
);

test('Union of subscriptions: any targets: it has exactly the items of the targets, covers each, and ignores their order', () => {
  fc.assert(
    fc.property(fc.array(target, { minLength: 1, maxLength: 5 }), (targets) => {
      const union = unionOf(targets) as Target;
      const has = selectorOf(union);
      const wanted = targets.map(selectorOf);
      expect(ITEMS.filter(has)).toEqual(ITEMS.filter((item) => wanted.some((each) => each(item))));
      expect(targets.every((each) => covers(union, each))).toBe(true);
      expect(addressOf(unionOf(targets.toReversed()) as Target)).toBe(addressOf(union));
    }),
  );
});

test('Subscription by name: the API knows the name as an id: it has every item', () => {
  expect(ITEMS.filter(selectorOf({ devices: ['a'] }))).toEqual(ITEMS);
});
