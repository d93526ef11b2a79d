import { expect, test } from '@jest/globals';
import { LEARNING, NORMAL, OFFLINE, SILENT } from '../../../web/state/cell-state.js';
import { matcherOf } from '../../../web/wall/use-picture.js';

/** @param {string} name @param {{ device?: string, site?: string, type?: string, cellState?: number, score?: number }} [rest] @returns {any} */
const sensor = (
  name,
  { device = 'Collar-7', site = 'North', type = 'pulse', cellState = NORMAL, score = 0 } = {},
) => ({
  name,
  type,
  cellState,
  score,
  device: { name: device, site, offline: cellState === OFFLINE },
});

const SENSORS = {
  usual: sensor('ear'),
  far: sensor('belly', { score: -9, cellState: 0 }),
  silent: sensor('ear', { device: 'gate-1', site: 'South', cellState: SILENT, score: 9 }),
  offline: sensor('temperature', { type: 'temperature', cellState: OFFLINE, score: 9 }),
  learning: sensor('pulse-ear', { type: 'temperature', cellState: LEARNING }),
};

test.each([
  ['name=ear', ['usual', 'silent', 'learning']],
  ['name=EAR', ['usual', 'silent', 'learning']],
  ['name=lar-7', ['usual', 'far', 'offline', 'learning']],
  ['type=pulse', ['usual', 'far', 'silent']],
  ['type=pul', []],
  ['site=South', ['silent']],
  ['site=North&type=temperature', ['offline', 'learning']],
  ['look=far', ['far']],
  ['look=silent', ['silent']],
  ['look=offline', ['offline']],
  ['state=offline', ['offline']],
  ['state=online&name=belly', ['far']],
])('Wall filter %s: the matching sensors', (query, names) => {
  const matches = matcherOf(new URLSearchParams(query));
  const lit = Object.entries(SENSORS).filter(([, one]) => matches?.(one));
  expect(lit.map(([name]) => name)).toEqual(names);
});

test('Wall filter: no parameters: nothing is dimmed', () => {
  expect(matcherOf(new URLSearchParams('show=devices&sort=name&cursor=x'))).toBeNull();
});
