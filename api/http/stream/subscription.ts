import { MillraceError } from '../../../common/errors.ts';
import type { Identity, SensorIdentity } from '../../../schema/ids.ts';
import { parseDevice, parseSensor } from '../parameters.ts';

/** Devices and sensors of one subscription. A longer one is refused. */
const MAX_NAMES = 2000;

/** A reader that names neither devices nor sensors follows the whole fleet. */
export interface Subscription {
  devices: Map<string, Identity>;
  /** key: `device id/sensor id` */
  sensors: Map<string, { device: Identity; sensor: SensorIdentity }>;
  everything: boolean;
}

/**
 * `device=` and `sensor=DEVICE/SENSOR` may stand any number of times. DEVICE and SENSOR are percent-encoded
 * separately. A name may contain a slash, so this function splits the raw query before it decodes the names.
 * @throws `bad_parameter`, `bad_id`
 */
export function readSubscription(url: string): Subscription {
  const subscription: Subscription = { devices: new Map(), sensors: new Map(), everything: false };
  const query = url.includes('?') ? url.slice(url.indexOf('?') + 1) : '';
  const pairs = query.split('&').filter(Boolean);
  if (pairs.length > MAX_NAMES) {
    throw new MillraceError(
      'bad_parameter',
      `Name at most ${MAX_NAMES} devices and sensors. Name none to follow the whole fleet.`,
    );
  }
  for (const pair of pairs) {
    const equals = pair.indexOf('=');
    const name = equals < 0 ? pair : pair.slice(0, equals);
    const raw = equals < 0 ? '' : pair.slice(equals + 1);
    if (name === 'device') addDevice(subscription, raw);
    else if (name === 'sensor') addSensor(subscription, raw);
    else throw new MillraceError('bad_parameter', `${name}: unknown parameter`);
  }
  subscription.everything = subscription.devices.size === 0 && subscription.sensors.size === 0;
  return subscription;
}

function addDevice({ devices }: Subscription, raw: string) {
  const device = parseDevice(decode(plain(raw)));
  devices.set(device.id, device);
}

function addSensor({ sensors }: Subscription, raw: string) {
  // Form encoders also encode the slash between device and sensor. Then the names are encoded twice, but spaces only once.
  const pair = raw.includes('/') ? plain(raw) : decode(plain(raw));
  const slash = pair.indexOf('/');
  if (slash < 0) throw new MillraceError('bad_parameter', 'sensor: DEVICE/SENSOR, each part percent-encoded');
  const device = parseDevice(decode(pair.slice(0, slash)));
  const sensor = parseSensor(device.id, decode(pair.slice(slash + 1)));
  sensors.set(`${device.id}/${sensor.id}`, { device, sensor });
}

/** A plus sign in a query means a space. */
const plain = (text: string) => text.replaceAll('+', '%20');

function decode(text: string) {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new MillraceError('bad_parameter', `${text} is not valid percent-encoding`, { cause: error });
  }
}

export const follows = (
  { everything, devices, sensors }: Subscription,
  { device_id, sensor_id }: { device_id: string; sensor_id: string },
) => everything || devices.has(device_id) || sensors.has(`${device_id}/${sensor_id}`);
