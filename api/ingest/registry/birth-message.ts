import { MillraceError, type Refusal } from '../../../common/errors.ts';
import {
  brokenNameRule,
  type Identity,
  identifySensor,
  isName,
  type SensorIdentity,
} from '../../../schema/ids.ts';
import { MAX_SENSORS_PER_DEVICE } from '../../../schema/rules.ts';
import type { Refusals } from '../../store/dead-letters.ts';
import { parseJson } from '../decode/json.ts';
import { PATHS, type PathOf } from '../decode/refusals.ts';
import { type DeviceSession, readSession } from './sessions.ts';

export type SensorBirth = {
  index: number;
  identity: SensorIdentity;
  name?: string;
  type?: string;
  unit?: string;
  label?: string;
  intervalMs?: number;
};

export interface Birth {
  session: DeviceSession;
  name?: string;
  site?: string;
  label?: string;
  sensors: SensorBirth[];
  /** paths of refused sensors; default: paths of elements of `sensors` */
  pathOf?: PathOf;
  /** invalid elements of `sensors` */
  refused: Refusals;
}

/**
 * @param payload `{"session", "name", "site", "label", "sensors": [{sensor_id, name, type, unit, label, interval_ms}]}`
 * @throws `malformed`, `bad_id`, `registration_limit`: the whole birth is refused
 */
export function readBirth(
  payload: Buffer,
  device: Identity,
  receivedAt: number,
  contentType?: string,
): Birth {
  const { session, name, site, label, sensors = [] } = parse(payload, contentType);
  if (!Array.isArray(sensors)) throw new MillraceError('malformed', 'must be an array', { path: 'sensors' });
  if (sensors.length > MAX_SENSORS_PER_DEVICE) {
    const rule = `must not have more than ${MAX_SENSORS_PER_DEVICE} elements`;
    throw new MillraceError('registration_limit', rule, { path: 'sensors' });
  }
  const birth: Birth = {
    session: readSession(session, receivedAt),
    name: optionalName('name', name) ?? device.name ?? undefined,
    site: optionalName('site', site),
    label: optionalName('label', label),
    sensors: [],
    refused: [],
  };
  const seen = new Set();
  for (const [index, element] of sensors.entries()) {
    const sensor = readSensor(device.id, index, element);
    if ('code' in sensor) {
      birth.refused.push(sensor);
      continue;
    }
    if (!seen.has(sensor.identity.id)) birth.sensors.push(sensor);
    seen.add(sensor.identity.id);
  }
  return birth;
}

function parse(payload: Buffer, contentType?: string): Record<string, unknown> {
  const content = parseJson(payload, contentType);
  if (Array.isArray(content)) throw new MillraceError('malformed', 'must be one object');
  return content as Record<string, unknown>;
}

function optionalName(path: string, text: unknown): string | undefined {
  if (text === undefined || text === null) return undefined;
  if (isName(text)) return text;
  throw new MillraceError('bad_id', brokenNameRule(text), { path });
}

/** Reads `{"type", "unit", "label", "interval_ms"}` of one sensor. @throws `malformed`, `bad_id` */
export function readDescription(payload: Buffer, deviceId: string, sensor: string): SensorBirth {
  const { type, unit, label, interval_ms } = parse(payload);
  const read = readSensor(deviceId, 0, { sensor_id: sensor, type, unit, label, interval_ms }, PATHS.object);
  if ('code' in read) throw new MillraceError(read.code, read.rule, { path: read.path });
  return { ...read, name: undefined };
}

function readSensor(
  deviceId: string,
  index: number,
  element: unknown,
  pathOf: PathOf = PATHS.birth,
): SensorBirth | Refusal {
  const refusal = (code: 'malformed' | 'bad_id', field: string | undefined, rule: string): Refusal => ({
    index,
    code,
    path: pathOf(index, field),
    rule,
  });
  if (element === null || typeof element !== 'object')
    return refusal('malformed', undefined, 'must be an object');
  const { sensor_id, name, type, unit, label, interval_ms } = element as Record<string, unknown>;
  const identity = identifySensor(deviceId, sensor_id ?? name);
  if (!identity) return refusal('bad_id', ...brokenId(sensor_id, name));
  for (const [field, text] of Object.entries({ name, type, unit, label })) {
    if (!isGiven(text) || isName(text)) continue;
    return refusal('bad_id', field, brokenNameRule(text));
  }
  const interval = interval_ms ?? undefined;
  if (interval !== undefined && !isInterval(interval)) {
    return refusal('malformed', 'interval_ms', INTERVAL_RULE);
  }
  return {
    index,
    identity,
    name: (name ?? identity.name ?? undefined) as string | undefined,
    type: (type ?? undefined) as string | undefined,
    unit: (unit ?? undefined) as string | undefined,
    label: (label ?? undefined) as string | undefined,
    intervalMs: interval,
  };
}

const isGiven = (value: unknown) => value !== undefined && value !== null;

/** why id and name identify no sensor */
function brokenId(sensorId: unknown, name: unknown): [field: string, rule: string] {
  if (isGiven(sensorId)) return ['sensor_id', brokenNameRule(sensorId)];
  return isGiven(name) ? ['name', brokenNameRule(name)] : ['sensor_id', 'is missing'];
}

const INTERVAL_RULE = `must be a whole number of ms from 1 to ${2 ** 31 - 1}`;

/** stored as a 32-bit integer */
const isInterval = (interval: unknown): interval is number =>
  typeof interval === 'number' && Number.isInteger(interval) && interval > 0 && interval < 2 ** 31;
