import { beforeEach, describe, expect, test } from '@jest/globals';
import { CHANNELS, MESSAGES } from '../../../../api/features/home-assistant/channels.ts';
import { discoveryOf, HomeAssistant } from '../../../../api/features/home-assistant/discovery.ts';
import { homeAssistantFeature } from '../../../../api/features/home-assistant/index.ts';
import type { LiveItem } from '../../../../api/live/messages.ts';
import { readSettings } from '../../../../common/settings/index.ts';

const ITEM: LiveItem = {
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

const DESCRIBED = {
  availabilityTopic: 'iot/live/desk/status',
  state: null,
  deviceLabel: null,
  label: null,
  intervalMs: null,
};

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
  ['K', 'temperature', 'K', 'temperature'],
  ['K', 'color_temp', 'K', undefined],
  ['C', 'temperature', '°C', 'temperature'],
  ['C', 'charge', 'C', undefined],
  ['F', 'capacitance', 'F', undefined],
  ['dB', 'snr', 'dB', 'signal_strength'],
  ['dB', 'noise', 'dB', 'sound_pressure'],
  ['dB', 'gain', 'dB', undefined],
  ['kWh', 'battery_stored', 'kWh', 'energy_storage'],
  ['m/s', 'wind gust', 'm/s', 'wind_speed'],
  ['constructor', 'x', 'constructor', undefined],
  [null, 'temperature', undefined, undefined],
])('Home Assistant: unit %s, type %s: announced as unit %s, class %s', (unit, type, shown, deviceClass) => {
  expect(discoveryOf({ ...ITEM, unit, type }, TOPIC, DESCRIBED)).toMatchObject({
    unit_of_measurement: shown,
    device_class: deviceClass,
    state_topic: TOPIC,
  });
});

test.each([
  ['Wh', 'total_increasing'],
  ['kWh', 'total_increasing'],
  ['°C', 'measurement'],
  ['MWh', 'total_increasing'],
  ['W', 'measurement'],
  [null, 'measurement'],
])('Home Assistant: sensor has unit %s: announced with state class %s', (unit, stateClass) => {
  expect(discoveryOf({ ...ITEM, unit }, TOPIC, DESCRIBED)).toMatchObject({ state_class: stateClass });
});

describe('Home Assistant: announcements', () => {
  let sent: Array<{ topic: string; name: string; retain: boolean | undefined }>;
  let isTaken = true;
  let homeAssistant: HomeAssistant;
  beforeEach(() => {
    sent = [];
    isTaken = true;
    homeAssistant = new HomeAssistant({
      prefix: 'homeassistant',
      send(topic, payload, options) {
        if (isTaken && topic.endsWith('/config'))
          sent.push({ topic, name: payload && JSON.parse(payload).name, retain: options?.retain });
        return isTaken;
      },
    });
  });

  test('Home Assistant: name or unit of a sensor changes: the sensor is announced again', () => {
    homeAssistant.announce(ITEM, TOPIC, DESCRIBED);
    homeAssistant.announce({ ...ITEM, name: 'warmth' }, TOPIC, DESCRIBED);
    homeAssistant.announce({ ...ITEM, name: 'warmth', unit: 'Cel' }, TOPIC, DESCRIBED);
    expect(sent.map(({ name }) => name)).toEqual(['value', 'warmth', 'warmth']);
  });

  test('Home Assistant: an announcement could not be sent: the next value announces the sensor, once', () => {
    isTaken = false;
    homeAssistant.announce(ITEM, TOPIC, DESCRIBED);
    isTaken = true;
    homeAssistant.announce({ ...ITEM, value: 2 }, TOPIC, DESCRIBED);
    homeAssistant.announce({ ...ITEM, value: 3 }, TOPIC, DESCRIBED);
    expect(sent).toHaveLength(1);
  });

  test('Home Assistant: the broker may have lost retained messages: all sensors are announced again', () => {
    homeAssistant.announce(ITEM, TOPIC, DESCRIBED);
    homeAssistant.forget();
    homeAssistant.announce(ITEM, TOPIC, DESCRIBED);
    expect(sent).toHaveLength(2);
  });

  test('Home Assistant: a device is retired: an empty message removes each of its sensors, and a new value announces it again', () => {
    homeAssistant.announce(ITEM, TOPIC, DESCRIBED);
    const device = { id: 'd', sensors: new Map([['s', {}]]) } as never;
    homeAssistant.remove(device, 'iot/live/desk');
    homeAssistant.announce(ITEM, TOPIC, DESCRIBED);
    expect(sent.map(({ name }) => name)).toEqual(['value', '', 'value']);
  });
});

// OpenMQTTGateway#2121, home-assistant/core#79005: a stale value stayed after the device was offline.
test('Home Assistant: labels and an interval are known: the labels are the names, and the value expires after three intervals', () => {
  const described = { ...DESCRIBED, deviceLabel: 'Desk', label: 'Warmth', intervalMs: 2500 };
  expect(discoveryOf(ITEM, TOPIC, described)).toMatchObject({
    name: 'Warmth',
    device: { name: 'Desk', identifiers: ['d'] },
    unique_id: 's',
    expire_after: 8,
    availability_topic: 'iot/live/desk/status',
  });
  expect(discoveryOf(ITEM, TOPIC, DESCRIBED).expire_after).toBeUndefined();
});

test('AsyncAPI: published discovery messages for Home Assistant: match their schema', () => {
  for (const unit of ['Cel', 'kWh', null]) {
    const described = {
      ...DESCRIBED,
      availabilityTopic: CHANNELS.liveStatus.address.replace('{device}', 'desk'),
      label: 'Warmth',
      intervalMs: unit === null ? null : 1000,
    };
    const config = JSON.parse(
      JSON.stringify(discoveryOf({ ...ITEM, unit, site: 'office' }, TOPIC, described)),
    );
    expect(MESSAGES.HomeAssistantConfig.safeParse(config).error).toBeUndefined();
  }
});

test('Files for Mosquitto: HOME_ASSISTANT_PREFIX is set: the installation may publish and read the discovery topics', () => {
  const rightsOf = (settings: Record<string, string>) =>
    homeAssistantFeature.brokerRights?.(readSettings(settings, { envFile: '' }));
  expect(rightsOf({ HOME_ASSISTANT_PREFIX: 'ha/discovery' })).toEqual({
    installation: ['readwrite ha/discovery/#'],
  });
  expect(rightsOf({})).toEqual({ installation: [] });
});
