import { uuidText } from '../../../schema/ids.ts';
import { HOUR_MS } from '../../../schema/rules.ts';

/** The id of a vertex. JanusGraph allows no hyphen in it. A sensor is only unique within its device. */
export const vertexOf = (id: string, sensor: string = ''): string => `${id}${sensor}`.replaceAll('-', '');

/** Alarms that opened in an hour are edges of its vertex. */
export const hourVertex = (opened: number): string => `hour${Math.floor(opened / HOUR_MS)}`;

/** The id as Millrace writes it: a UUID, or those of device and sensor with a slash. Other values stay. */
export function idOf(vertex: unknown): unknown {
  if (typeof vertex !== 'string' || !/^([0-9a-f]{32}){1,2}$/.test(vertex)) return vertex;
  const ids = vertex.match(/.{32}/g) ?? [];
  return ids.map((hex) => uuidText(Buffer.from(hex, 'hex'))).join('/');
}
