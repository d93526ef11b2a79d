import fc from 'fast-check';
import { deviceAccount } from '../../../api/access/topic-permissions.ts';
import { identifyDevice } from '../../../schema/ids.ts';

export const idOf = (text: string) => String(identifyDevice(text)?.id);

/** @param devices the devices for which the account may send in addition to its own */
export const deviceNamed = (account: string, ...devices: string[]) =>
  deviceAccount({ account, deviceId: idOf(account), devices });

/** A topic level of any client: often a name, a wildcard or a keyword that has a meaning. */
const level = fc.oneof(
  fc.constantFrom('+', '#', '', 'pump', 'valve', 'plant', 'edge', 'STATE', 'live', 'v1', 'iot', 'spBv1.0'),
  fc.constantFrom('pump', 'valve', 'plant/edge', '+').map(idOf),
  fc.string({ unit: 'binary', maxLength: 4 }).filter((text) => !text.includes('/')),
);
const kind = fc.constantFrom('measurements', 'birth', 'status', '#', '+', 'NDATA', 'DDATA', 'NCMD', 'DCMD');
export const anyTopic = fc.oneof(
  fc.tuple(fc.constant('iot/v1'), level, kind).map((levels) => levels.join('/')),
  fc.tuple(fc.constant('spBv1.0'), level, kind, level).map((levels) => levels.join('/')),
  fc.tuple(fc.constant('spBv1.0'), level, kind, level, level).map((levels) => levels.join('/')),
  fc.array(fc.oneof(level, kind), { maxLength: 6 }).map((levels) => levels.join('/')),
);
const name = fc
  .oneof(
    level,
    fc.tuple(level, level).map((levels) => levels.join('/')),
  )
  .filter((text) => identifyDevice(text) !== null);
export const anyAccount = fc
  .record({ of: name, devices: fc.array(name, { maxLength: 2 }) })
  .map(({ of, devices }) => deviceNamed(of, ...devices));
