/** The subscription of an event stream. If it has no devices and no sensors, the stream covers the whole fleet. */
export interface Target {
  /** device ids, or the name of a device that does not exist yet */
  devices?: readonly string[];
  sensors?: readonly (readonly [device: string, sensor: string])[];
}

/** The nil UUID (RFC 9562, section 5.9), which no device has. A page that subscribes to it receives only pipeline statistics. */
const NOBODY = '00000000-0000-0000-0000-000000000000';

export const FIGURES_ALONE: Target = { devices: [NOBODY] };

/** Limit of the API for the names in one subscription. Above it, the whole fleet is followed. */
const MAX_NAMES = 2000;

const isWhole = ({ devices = [], sensors = [] }: Target) => devices.length + sensors.length === 0;

const pathOf = ([device, sensor]: readonly [string, string]) =>
  `${encodeURIComponent(device)}/${encodeURIComponent(sensor)}`;

/** @returns the smallest subscription that covers all targets; null: there are no targets */
export function unionOf(targets: readonly Target[]): Target | null {
  if (targets.length === 0) return null;
  if (targets.some(isWhole)) return {};
  const devices = new Set(targets.flatMap((target) => target.devices ?? []));
  const sensors = new Map(
    targets.flatMap((target) => target.sensors ?? []).map((sensor) => [pathOf(sensor), sensor]),
  );
  for (const [path, [device]] of sensors) if (devices.has(device)) sensors.delete(path);
  if (devices.size + sensors.size > 1) devices.delete(NOBODY);
  if (devices.size + sensors.size > MAX_NAMES) return {};
  const inOrder = [...sensors].sort(([a], [b]) => (a < b ? -1 : 1));
  return { devices: [...devices].sort(), sensors: inOrder.map(([, sensor]) => sensor) };
}

export function covers(subscription: Target, target: Target): boolean {
  if (isWhole(subscription)) return true;
  if (isWhole(target)) return false;
  const devices = new Set([NOBODY, ...(subscription.devices ?? [])]);
  const sensors = new Set((subscription.sensors ?? []).map(pathOf));
  return (
    (target.devices ?? []).every((device) => devices.has(device)) &&
    (target.sensors ?? []).every((sensor) => devices.has(sensor[0]) || sensors.has(pathOf(sensor)))
  );
}

const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

export const keyOf = ({ device_id, sensor_id }: { device_id: string; sensor_id: string }): string =>
  `${device_id}/${sensor_id}`;

/** @returns a function that finds out whether the target has a sensor, by the ids of the sensor and its device */
export function selectorOf(target: Target): (item: { device_id: string; sensor_id: string }) => boolean {
  const devices = new Set(target.devices ?? []);
  // Items have ids, and only the API computes the id of a name. So a target with a name has every item.
  if (isWhole(target) || [...devices].some((device) => !ID.test(device))) return () => true;
  const sensors = new Set((target.sensors ?? []).map(pathOf));
  return (item) => devices.has(item.device_id) || sensors.has(keyOf(item));
}

export function addressOf({ devices = [], sensors = [] }: Target): string {
  const parameters = [
    ...devices.map((device) => `device=${encodeURIComponent(device)}`),
    // A name may contain a slash, so each name is encoded. The joined text is then encoded again as a query value.
    ...sensors.map((sensor) => `sensor=${encodeURIComponent(pathOf(sensor))}`),
  ];
  return `/api/v1/stream${parameters.length > 0 ? `?${parameters.join('&')}` : ''}`;
}
