import type { TargetsOf } from '../access/http/index.ts';
import { parseDevice, parseSensor } from './parameters.ts';

/** The device of the path, or its sensor if the path has one. */
export const pathTargets: TargetsOf = ({ params }) => {
  const { id: device } = parseDevice(String(params['device']));
  const sensor = params['sensor'];
  return [sensor === undefined ? { device } : { device, sensor: parseSensor(device, String(sensor)).id }];
};

/** The devices of the query. Empty: it names none. */
export const queryTargets: TargetsOf = ({ query: { device } }) =>
  [device ?? []].flat().map((text) => ({ device: parseDevice(String(text)).id }));
