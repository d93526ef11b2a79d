import { expect, test } from '@jest/globals';
import { matcherOf } from '../../../../../web/features/shared/matching.ts';
import { CURRENT, type Judge, OFFLINE, SILENT } from '../../../../../web/state/cells.ts';
import type { FleetSensor } from '../../../../../web/state/fleet.ts';

const sensor = (
  name: string,
  {
    device = 'Collar-7',
    site = 'North',
    type = 'pulse',
    cellState = CURRENT,
    sigmas = 0,
  }: { device?: string; site?: string; type?: string; cellState?: number; sigmas?: number } = {},
): FleetSensor =>
  ({
    name,
    type,
    cellState,
    sigmas,
    device: { name: device, site, presence: cellState === OFFLINE ? 'offline' : 'online' },
  }) as FleetSensor;

const judge: Judge = { cellStateOf: () => CURRENT, isFar: (sigmas) => Math.abs(sigmas ?? 0) > 8 };

const SENSORS = {
  usual: sensor('ear'),
  far: sensor('belly', { sigmas: -9, cellState: 0 }),
  silent: sensor('ear', { device: 'gate-1', site: 'South', cellState: SILENT, sigmas: 9 }),
  offline: sensor('temperature', { type: 'temperature', cellState: OFFLINE, sigmas: 9 }),
  unjudged: sensor('pulse-ear', { type: 'temperature', cellState: 11 }),
};

test.each([
  ['name=ear', ['usual', 'silent', 'unjudged']],
  ['name=EAR', ['usual', 'silent', 'unjudged']],
  ['name=lar-7', ['usual', 'far', 'offline', 'unjudged']],
  ['type=pulse', ['usual', 'far', 'silent']],
  ['type=pul', []],
  ['site=South', ['silent']],
  ['site=North&type=temperature', ['offline', 'unjudged']],
  ['look=far', ['far']],
  ['look=silent', ['silent']],
  ['look=offline', ['offline']],
  ['state=offline', ['offline']],
  ['state=online&name=belly', ['far']],
])('Wall filter: address %s: only matching sensors are highlighted', (query, names) => {
  const matches = matcherOf(new URLSearchParams(query), judge);
  const lit = Object.entries(SENSORS).filter(([, one]) => matches?.(one));
  expect(lit.map(([name]) => name)).toEqual(names);
});
