import { LRUCache } from 'lru-cache';
import type { Device } from '../../ingest/registry/cache.ts';
import type { LiveItem } from '../../live/messages.ts';
import type { NamedFollower, SendLive } from '../../live/named-topics.ts';

/** A sensor that was evicted from this cache of announcements is announced again, which changes nothing. */
const MAX_SENSORS = 100_000;

/** In ms. Then a sensor is announced again, because another process may have removed its announcement. */
const ANNOUNCE_AGAIN_AFTER_MS = 3_600_000;

/** Without a value for so many reporting intervals, Home Assistant shows no value. */
const EXPIRED_INTERVALS = 3;

/** Units that SenML or UCUM name differently than Home Assistant. */
const UNITS = new Map([
  ['Cel', '°C'],
  ['degC', '°C'],
  ['degF', '°F'],
  ['%RH', '%'],
  ['/', ''],
  ['ohm', 'Ω'],
  ['m/s2', 'm/s²'],
  ['m3', 'm³'],
  ['m3/h', 'm³/h'],
  ['m3/s', 'm³/s'],
  ['l/min', 'L/min'],
  ['l', 'L'],
  ['deg', '°'],
  ['lux', 'lx'],
  ['ug/m3', 'µg/m³'],
]);

/** Units that are a temperature only if type or name shows it. In SenML they are coulomb and farad. */
const TEMPERATURES = new Map([
  ['C', '°C'],
  ['F', '°F'],
]);

const TEMPERATURE = /temp|dew.?point|setpoint/i;

/**
 * Device classes of Home Assistant by unit. Home Assistant rejects a class with another unit than its table has for the class
 * (`DEVICE_CLASS_UNITS` in `homeassistant/components/sensor/const.py`). The first entry decides whose words are in the type or
 * name of the sensor, and whose `not` is not.
 */
const CLASSES: Array<{ units: string[]; words?: RegExp; not?: RegExp; deviceClass: string }> = [
  { units: ['°C', '°F'], not: /delta|diff|gradient/i, deviceClass: 'temperature' },
  { units: ['K'], words: /temp|dew.?point/i, not: /colo.?r/i, deviceClass: 'temperature' },
  { units: ['mV', 'V', 'kV'], deviceClass: 'voltage' },
  { units: ['mA', 'A'], deviceClass: 'current' },
  { units: ['mW', 'W', 'kW', 'MW'], deviceClass: 'power' },
  { units: ['VA', 'kVA'], deviceClass: 'apparent_power' },
  { units: ['var', 'kvar'], deviceClass: 'reactive_power' },
  { units: ['Wh', 'kWh', 'MWh'], words: /batter|stor|remain|level/i, deviceClass: 'energy_storage' },
  { units: ['Wh', 'kWh', 'MWh'], deviceClass: 'energy' },
  { units: ['Hz', 'kHz'], deviceClass: 'frequency' },
  { units: ['lx'], deviceClass: 'illuminance' },
  { units: ['Pa', 'hPa', 'kPa', 'mbar', 'bar', 'psi'], deviceClass: 'pressure' },
  { units: ['dB'], words: /rssi|snr|signal/i, deviceClass: 'signal_strength' },
  { units: ['dB'], words: /sound|noise|loud|acoustic/i, deviceClass: 'sound_pressure' },
  { units: ['dBm'], deviceClass: 'signal_strength' },
  { units: ['m/s', 'km/h'], words: /wind|gust/i, deviceClass: 'wind_speed' },
  { units: ['m/s', 'km/h'], deviceClass: 'speed' },
  { units: ['m³/h', 'L/min'], deviceClass: 'volume_flow_rate' },
  { units: ['%'], words: /batter/i, deviceClass: 'battery' },
  { units: ['%'], words: /moist/i, deviceClass: 'moisture' },
  { units: ['%'], words: /hum/i, deviceClass: 'humidity' },
  { units: ['ppm'], words: /co2|carbon.?dioxide/i, deviceClass: 'carbon_dioxide' },
  { units: ['µg/m³'], words: /pm.?2.?5/i, deviceClass: 'pm25' },
  { units: ['µg/m³'], words: /pm.?10/i, deviceClass: 'pm10' },
  { units: ['s'], words: /dur|time/i, deviceClass: 'duration' },
  { units: ['kg'], words: /weight|mass/i, deviceClass: 'weight' },
  { units: ['m'], words: /dist|level/i, deviceClass: 'distance' },
];

/**
 * Announces sensors to Home Assistant by MQTT discovery: a retained message with the topic, the unit and the class of a
 * sensor. The message is sent with the first value of a sensor after its registration, after a change of its
 * attributes, and after a start of the process or of the broker. A dropped message is sent with the next value.
 *
 * https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery
 */
export class HomeAssistant implements NamedFollower {
  #prefix;
  #send;
  /** By topic, since sensors of several devices may have the same id. */
  #announced: LRUCache<string, string> = new LRUCache({ max: MAX_SENSORS, ttl: ANNOUNCE_AGAIN_AFTER_MS });

  constructor({ prefix, send }: { prefix: string; send: SendLive }) {
    this.#prefix = prefix;
    this.#send = send;
  }

  publish(item: LiveItem, device: Device, sensorTopic: string, deviceTopic: string) {
    const { label = null, intervalMs = null } = device.sensors.get(item.sensor_id) ?? {};
    this.announce(item, sensorTopic, {
      availabilityTopic: availabilityTopic(deviceTopic),
      state: device.state,
      deviceLabel: device.label,
      label,
      intervalMs,
    });
  }

  publishState({ state }: Pick<Device, 'state'>, deviceTopic: string) {
    this.#sendState(availabilityTopic(deviceTopic), state);
  }

  /** @param stateTopic topic with the newest value of the sensor */
  announce(item: LiveItem, stateTopic: string, described: Described) {
    const { device_id, sensor_id, device, name, type, unit, site } = item;
    const { deviceLabel, label, intervalMs, state } = described;
    const attributes = [device, name, type, unit, site, deviceLabel, label, intervalMs].join('\n');
    const topic = this.#configTopic(device_id, sensor_id);
    if (this.#announced.get(topic) === attributes) return;
    const config = JSON.stringify(discoveryOf(item, stateTopic, described));
    if (!this.#send(topic, config, { retain: true })) return;
    if (this.#sendState(described.availabilityTopic, state)) this.#announced.set(topic, attributes);
  }

  /** @param state null: the device reports no state, so each value shows that it is online @returns false: the message was dropped */
  #sendState(topic: string, state: string | null): boolean {
    return this.#send(topic, state ?? 'online', { retain: true });
  }

  remove({ id, sensors }: Pick<Device, 'id' | 'sensors'>, deviceTopic: string) {
    for (const sensor of sensors.keys()) {
      const topic = this.#configTopic(id, sensor);
      this.#announced.delete(topic);
      this.#send(topic, '', { retain: true });
    }
    this.#send(availabilityTopic(deviceTopic), '', { retain: true });
  }

  #configTopic = (device: string, sensor: string): string =>
    `${this.#prefix}/sensor/${device}/${sensor}/config`;

  forget() {
    this.#announced.clear();
  }
}

const availabilityTopic = (deviceTopic: string) => `${deviceTopic}/status`;

interface Described {
  availabilityTopic: string;
  /** `online` or `offline`; null: the device reports no state */
  state: string | null;
  deviceLabel: string | null;
  label: string | null;
  /** of the sensor, in ms */
  intervalMs: number | null;
}

export function discoveryOf(
  { device_id, sensor_id, device, name, type, unit, site }: LiveItem,
  stateTopic: string,
  { availabilityTopic, deviceLabel, label, intervalMs }: Described,
) {
  const words = `${type ?? ''} ${name ?? ''}`;
  const shownUnit = unit === null ? undefined : shownUnitOf(unit, words);
  const device_class = deviceClass(shownUnit, words);
  return {
    name: label ?? name ?? sensor_id,
    // Home Assistant identifies an entity by this id. If its form changed, existing installations would get each entity twice.
    unique_id: sensor_id,
    state_topic: stateTopic,
    value_template: '{{ value_json.value }}',
    unit_of_measurement: shownUnit,
    device_class,
    // Home Assistant accepts the class `energy` only as a total.
    state_class: device_class === 'energy' ? 'total_increasing' : 'measurement',
    availability_topic: availabilityTopic,
    expire_after: intervalMs === null ? undefined : Math.ceil((EXPIRED_INTERVALS * intervalMs) / 1000),
    device: {
      identifiers: [device_id],
      name: deviceLabel ?? device ?? device_id,
      suggested_area: site ?? undefined,
    },
    origin: { name: 'Millrace' },
  };
}

/** @param words type and name of the sensor */
function shownUnitOf(unit: string, words: string): string | undefined {
  const temperature = TEMPERATURES.get(unit);
  if (temperature !== undefined && TEMPERATURE.test(words)) return temperature;
  return (UNITS.get(unit) ?? unit) || undefined;
}

/** @param words type and name of the sensor @returns undefined: no class certainly fits */
const deviceClass = (unit: string | undefined, words: string): string | undefined =>
  unit === undefined
    ? undefined
    : CLASSES.find(
        ({ units, words: wanted, not }) =>
          units.includes(unit) && (wanted?.test(words) ?? true) && !not?.test(words),
      )?.deviceClass;
