import { beforeEach, describe, expect, test } from '@jest/globals';
import { discoveryOf, HomeAssistant } from '../../../api/live/home-assistant.js';

/** @import { LiveItem } from '../../../api/live/messages.js' */

/** @type {LiveItem} */
const ITEM = {
  device_id: 'd',
  sensor_id: 's',
  device: 'desk',
  name: 'value',
  type: null,
  unit: null,
  site: null,
  ts: '2026-01-01T00:00:00.000Z',
  value: 1,
};
const TOPIC = 'iot/live/desk/sensors/value';

test.each([
  ['Cel', 'temperature', '°C', 'temperature'],
  ['%RH', 'humidity', '%', 'humidity'],
  ['%', 'battery', '%', 'battery'],
  ['%', 'opening', '%', undefined],
  ['ppm', 'co2', 'ppm', 'carbon_dioxide'],
  ['kWh', 'counter', 'kWh', 'energy'],
  ['hPa', 'pressure', 'hPa', 'pressure'],
  ['/', 'ratio', undefined, undefined],
  ['bananas', 'temperature', 'bananas', undefined],
  ['constructor', 'x', 'constructor', undefined],
  [null, 'temperature', undefined, undefined],
])('Home Assistant: unit %s, type %s: announced as unit %s, class %s', (unit, type, shown, deviceClass) => {
  expect(discoveryOf({ ...ITEM, unit, type }, TOPIC)).toMatchObject({
    unit_of_measurement: shown,
    device_class: deviceClass,
    state_topic: TOPIC,
  });
});

test.each([
  ['Wh', 'total_increasing'],
  ['kWh', 'total_increasing'],
  ['MWh', 'total_increasing'],
  ['W', 'measurement'],
  [null, 'measurement'],
])('Home Assistant: sensor has unit %s: announced with state class %s', (unit, stateClass) => {
  expect(discoveryOf({ ...ITEM, unit }, TOPIC)).toMatchObject({ state_class: stateClass });
});

test('Home Assistant: device and sensor have no names: their ids are announced as names', () => {
  expect(discoveryOf({ ...ITEM, device: null, name: null }, TOPIC)).toMatchObject({
    name: 's',
    device: { name: 'd', identifiers: ['d'] },
  });
});

describe('Home Assistant: announcements', () => {
  /** @type {Array<{ topic: string, name: string, retain: boolean | undefined }>} */
  let sent;
  let isTaken = true;
  /** @type {HomeAssistant} */
  let homeAssistant;
  beforeEach(() => {
    sent = [];
    isTaken = true;
    homeAssistant = new HomeAssistant({
      prefix: 'homeassistant',
      send(topic, payload, options) {
        if (isTaken) sent.push({ topic, name: JSON.parse(payload).name, retain: options?.retain });
        return isTaken;
      },
    });
  });

  test('Home Assistant: a sensor sends several values: the sensor is announced once', () => {
    homeAssistant.announce(ITEM, TOPIC);
    homeAssistant.announce({ ...ITEM, value: 2 }, TOPIC);
    expect(sent).toEqual([{ topic: 'homeassistant/sensor/d/s/config', name: 'value', retain: true }]);
  });

  test('Home Assistant: two devices have sensors with equal ids: each sensor is announced once', () => {
    const other = { ...ITEM, device_id: 'e', device: 'shelf' };
    for (const item of [ITEM, other, ITEM, other]) homeAssistant.announce(item, TOPIC);
    expect(sent.map(({ topic }) => topic)).toEqual([
      'homeassistant/sensor/d/s/config',
      'homeassistant/sensor/e/s/config',
    ]);
  });

  test('Home Assistant: name or unit of a sensor changes: the sensor is announced again', () => {
    homeAssistant.announce(ITEM, TOPIC);
    homeAssistant.announce({ ...ITEM, name: 'warmth' }, TOPIC);
    homeAssistant.announce({ ...ITEM, name: 'warmth', unit: 'Cel' }, TOPIC);
    expect(sent.map(({ name }) => name)).toEqual(['value', 'warmth', 'warmth']);
  });

  test('Home Assistant: an announcement could not be sent: the next value announces the sensor, once', () => {
    isTaken = false;
    homeAssistant.announce(ITEM, TOPIC);
    isTaken = true;
    homeAssistant.announce({ ...ITEM, value: 2 }, TOPIC);
    homeAssistant.announce({ ...ITEM, value: 3 }, TOPIC);
    expect(sent).toHaveLength(1);
  });

  test('Home Assistant: the broker may have lost retained messages: all sensors are announced again', () => {
    homeAssistant.announce(ITEM, TOPIC);
    homeAssistant.forget();
    homeAssistant.announce(ITEM, TOPIC);
    expect(sent).toHaveLength(2);
  });
});
