import { LRUCache } from 'lru-cache';

/** @import { LiveItem } from './messages.js' */
/** @import { SendLive } from './named-topics.js' */

/**
 * Limit of sensors whose announcement to Home Assistant is remembered. A sensor that was evicted from this cache is
 * announced again, which changes nothing.
 */
const MAX_SENSORS = 100_000;

/** Names of units in Home Assistant, for units that SenML or UCUM name differently. */
const UNITS = new Map([
  ['Cel', '°C'],
  ['degC', '°C'],
  ['C', '°C'],
  ['degF', '°F'],
  ['F', '°F'],
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

/**
 * Device classes of Home Assistant by unit, for units that belong to a single quantity. Home Assistant rejects a device
 * class together with a unit that does not belong to this class.
 */
const CLASS_OF_UNIT = new Map([
  ['°C', 'temperature'],
  ['°F', 'temperature'],
  ['K', 'temperature'],
  ['V', 'voltage'],
  ['mV', 'voltage'],
  ['A', 'current'],
  ['mA', 'current'],
  ['W', 'power'],
  ['kW', 'power'],
  ['MW', 'power'],
  ['VA', 'apparent_power'],
  ['var', 'reactive_power'],
  ['Wh', 'energy'],
  ['kWh', 'energy'],
  ['MWh', 'energy'],
  ['Hz', 'frequency'],
  ['kHz', 'frequency'],
  ['lx', 'illuminance'],
  ['hPa', 'pressure'],
  ['Pa', 'pressure'],
  ['kPa', 'pressure'],
  ['bar', 'pressure'],
  ['mbar', 'pressure'],
  ['psi', 'pressure'],
  ['dB', 'sound_pressure'],
  ['dBm', 'signal_strength'],
  ['m/s', 'speed'],
  ['km/h', 'speed'],
  ['m³/h', 'volume_flow_rate'],
  ['L/min', 'volume_flow_rate'],
]);

/**
 * Device classes for units that belong to several quantities. A word in the type or name of the sensor decides.
 *
 * @type {Array<[unit: string, word: RegExp, deviceClass: string]>}
 */
const CLASS_OF_WORD = [
  ['%', /batter/i, 'battery'],
  ['%', /moist/i, 'moisture'],
  ['%', /hum/i, 'humidity'],
  ['ppm', /co2|carbon.?dioxide/i, 'carbon_dioxide'],
  ['µg/m³', /pm.?2.?5/i, 'pm25'],
  ['µg/m³', /pm.?10/i, 'pm10'],
  ['s', /dur|time/i, 'duration'],
  ['kg', /weight|mass/i, 'weight'],
  ['m', /dist|level/i, 'distance'],
];

/**
 * Announces sensors to Home Assistant by MQTT discovery: a retained message with the topic, the unit and the
 * class of a sensor. The message is sent with the first value of a sensor after its registration, after a
 * change of its attributes, and after a start of the process or of the broker. A dropped message is sent with
 * the next value.
 *
 * https://www.home-assistant.io/integrations/mqtt/#mqtt-discovery
 */
export class HomeAssistant {
  #prefix;
  #send;
  /** Announced attributes by topic, since sensors of several devices may have the same id. @type {LRUCache<string, string>} */
  #announced = new LRUCache({ max: MAX_SENSORS });

  /** @param {{ prefix: string, send: SendLive }} deps `prefix`: HOME_ASSISTANT_PREFIX */
  constructor({ prefix, send }) {
    this.#prefix = prefix;
    this.#send = send;
  }

  /** Announces a new or changed sensor. @param {LiveItem} item @param {string} stateTopic topic with the newest value of the sensor */
  announce(item, stateTopic) {
    const { device_id, sensor_id, device, name, type, unit, site } = item;
    const attributes = `${device}\n${name}\n${type}\n${unit}\n${site}`;
    const topic = `${this.#prefix}/sensor/${device_id}/${sensor_id}/config`;
    if (this.#announced.get(topic) === attributes) return;
    const isSent = this.#send(topic, JSON.stringify(discoveryOf(item, stateTopic)), { retain: true });
    if (isSent) this.#announced.set(topic, attributes);
  }

  /** Forgets the announcements, so that each sensor is announced again with its next value. */
  forget() {
    this.#announced.clear();
  }
}

/** Returns the discovery message of a sensor. @param {LiveItem} item @param {string} stateTopic topic with the newest value */
export function discoveryOf({ device_id, sensor_id, device, name, type, unit, site }, stateTopic) {
  const shownUnit = unit === null ? undefined : (UNITS.get(unit) ?? unit) || undefined;
  const device_class = deviceClass(shownUnit, `${type ?? ''} ${name ?? ''}`);
  return {
    name: name ?? sensor_id,
    // Home Assistant identifies an entity by this id. If its form changed, existing installations would get
    // each entity twice.
    unique_id: sensor_id,
    state_topic: stateTopic,
    value_template: '{{ value_json.value }}',
    unit_of_measurement: shownUnit,
    device_class,
    // Home Assistant accepts the class `energy` only as a total.
    state_class: device_class === 'energy' ? 'total_increasing' : 'measurement',
    device: {
      identifiers: [device_id],
      name: device ?? device_id,
      suggested_area: site ?? undefined,
    },
    origin: { name: 'Millrace' },
  };
}

/**
 * @param {string | undefined} unit
 * @param {string} words type and name of the sensor
 * @returns {string | undefined} undefined: no class certainly fits
 */
function deviceClass(unit, words) {
  if (unit === undefined) return undefined;
  return CLASS_OF_UNIT.get(unit) ?? CLASS_OF_WORD.find(([of, word]) => of === unit && word.test(words))?.[2];
}
