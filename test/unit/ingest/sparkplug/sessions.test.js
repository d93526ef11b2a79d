import { beforeEach, describe, expect, test } from '@jest/globals';
import { createMemoryEdgeNode, valuesOf } from '../../../support/sparkplug/memory-edge-node.js';
import { LATER, T0, vector } from '../../../support/sparkplug/vectors.js';
import { until } from '../../../support/until.js';

/** @import { MemoryEdgeNode } from '../../../support/sparkplug/memory-edge-node.js' */

const COMMAND = 'spBv1.0/plant/NCMD/edge-1';
const [NODE, PRESS] = ['plant/edge-1', 'plant/edge-1/press'];

/** @type {MemoryEdgeNode} */
let edge;
let now = 0;

beforeEach(async () => {
  now = T0 + 2 * LATER;
  edge = await createMemoryEdgeNode(() => now);
});

async function beBorn() {
  await edge.send('NBIRTH', vector('nbirth'));
  await edge.send('DBIRTH', vector('dbirth'));
  now++;
}

/** @param {Awaited<ReturnType<typeof edge.send>>} said */
const values = ({ batch }) => batch && valuesOf(batch);

describe('Sparkplug data', () => {
  test('Sparkplug data: its node is born, nothing is missing: aliases are resolved, and no rebirth is requested', async () => {
    await beBorn();
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([['Temperature', 22]]);
    expect(edge.commands).toEqual([]);
  });

  test('Sparkplug data: a message is missing before it: it is read, and a rebirth is requested', async () => {
    await beBorn();
    expect(values(await edge.send('DDATA', vector('ddata', 1)))).toEqual([['Temperature', 23]]);
    expect(edge.commands).toEqual([COMMAND]);
    expect(await edge.requests()).toBe(1);
  });

  test('Sparkplug data: a rebirth is requested until the birth: then no more', async () => {
    await beBorn();
    await edge.send('DDATA', vector('ddata', 1));
    now += 10_000;
    await edge.send('DDATA', vector('ddata', 2));
    expect(edge.commands).toHaveLength(2);
    now += 10_000;
    await beBorn();
    await edge.send('DDATA', vector('ddata'));
    expect(edge.commands).toHaveLength(2);
  });

  test('Sparkplug data: its node is unknown: metrics with a type are read, and a rebirth is requested', async () => {
    expect(values(await edge.send('DDATA', vector('types')))).toContainEqual(['Int8', -128]);
    expect(edge.commands).toEqual([COMMAND]);
  });

  test('Sparkplug data: an alias that no birth defined: refused, and a rebirth is requested', async () => {
    await beBorn();
    const { batch } = await edge.send('DDATA', vector('ddataUnknown'));
    expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
    expect(edge.commands).toEqual([COMMAND]);
  });

  test('Sparkplug data: the broker repeats it: its number is no gap', async () => {
    await beBorn();
    await edge.send('DDATA', vector('ddata'));
    await edge.send('DDATA', vector('ddata', 1));
    await edge.send('DDATA', vector('ddata'), { dup: true });
    await edge.send('DDATA', vector('ddata', 2));
    expect(edge.commands).toEqual([]);
  });

  test('Sparkplug data: this process was restarted: no alias is believed, and a rebirth is requested', async () => {
    await beBorn();
    edge.restart();
    const { batch } = await edge.send('DDATA', vector('ddata', 5));
    expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
    expect(edge.commands).toEqual([COMMAND]);
    await beBorn();
    expect(values(await edge.send('DDATA', vector('ddata', 6)))).toEqual([['Temperature', 28]]);
  });

  test('Sparkplug data: the connection to the broker broke: no alias is believed before the next birth', async () => {
    await beBorn();
    edge.forgetBirths();
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
    expect(edge.commands).toEqual([COMMAND]);
  });

  test('Sparkplug data: clock of the node: set back since the birth: aliases are those of the birth', async () => {
    await edge.send('NBIRTH', vector('nbirthNext'));
    await edge.send('DBIRTH', vector('dbirthSwapped'));
    expect(values(await edge.send('DDATA', vector('ddata')))).not.toContainEqual(['Temperature', 22]);
  });

  test('Sparkplug data: a birth of its device is refused: the aliases before are not valid', async () => {
    await beBorn();
    edge.doubt('DBIRTH');
    expect(edge.commands).toEqual([COMMAND]);
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
  });

  test('Sparkplug data: the broker repeats it, and its alias means something else now: it is refused', async () => {
    await beBorn();
    await edge.send('NBIRTH', vector('nbirthNext'));
    await edge.send('DBIRTH', vector('dbirthSwapped'));
    const { batch } = await edge.send('DDATA', vector('ddata'), { dup: true });
    expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
  });
});

test('Sparkplug data: late, with the number of an earlier birth: an alias that has another meaning now is refused', async () => {
  await beBorn();
  await edge.send('NBIRTH', vector('nbirthNext'));
  await edge.send('DBIRTH', vector('dbirthSwapped'));
  const { batch } = await edge.send('DDATA', vector('ddata', 5));
  expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
  expect(edge.commands).toEqual([COMMAND]);
});

describe('Sparkplug births', () => {
  test('Sparkplug births: node and its device: sensors and values are read, and no session has ended', async () => {
    const node = await edge.send('NBIRTH', vector('nbirth'));
    expect(node.birth?.sensors.map(({ name }) => name)).toEqual(['Supply Voltage']);
    expect([values(node), node.ended]).toEqual([[['Supply Voltage', 12.5]], []]);
    const device = await edge.send('DBIRTH', vector('dbirth'));
    expect(device.birth?.session.id).toBe(T0 + 1);
    expect([values(device)?.length, device.ended, edge.commands]).toEqual([3, [], []]);
  });

  test.each([
    ['what it defines', 'sparkplug_birth', 'NBIRTH', 'nbirth'],
    ['its number', 'sparkplug_node', 'NBIRTH', 'nbirth'],
    ['what it defines', 'sparkplug_birth', 'DBIRTH', 'dbirth'],
    ['whose device it is', 'sparkplug_node', 'DBIRTH', 'dbirth'],
  ])(
    'the write of %s is under way: the birth is not read before the commit (%s, %s)',
    async (_, table, type, name) => {
      const open = edge.hold(table);
      let settled = false;
      const saying = edge.send(/** @type {'NBIRTH' | 'DBIRTH'} */ (type), vector(name)).then(() => {
        settled = true;
      });
      await until(() => edge.waiting.length > 0, { what: 'the write' });
      for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
      expect(settled).toBe(false);
      open();
      await saying;
    },
  );

  test('Sparkplug births: a device is born and its node was not: the birth of the node is requested', async () => {
    await edge.send('DBIRTH', vector('dbirth'));
    expect(edge.commands).toEqual([COMMAND]);
  });

  test('Sparkplug births: a node is born on a new connection: its earlier devices have ended', async () => {
    await beBorn();
    expect((await edge.send('NBIRTH', vector('nbirthNext'))).ended).toEqual([PRESS]);
    edge.restart();
    expect((await edge.send('NDEATH', vector('ndeathNext'))).ended.sort()).toEqual([NODE, PRESS]);
  });

  test('Sparkplug births: a node is born again on the same connection: its devices stay, and their births have to follow', async () => {
    await beBorn();
    expect((await edge.send('NBIRTH', vector('nbirthAgain'))).ended).toEqual([]);
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
  });

  test('Sparkplug births: a device whose birth has a later time than that of its node: the birth that arrived last counts', async () => {
    await beBorn();
    await edge.send('DBIRTH', vector('dbirthSwapped'));
    expect((await edge.send('NBIRTH', vector('nbirthNext'))).ended).toEqual([PRESS]);
  });

  test.each([
    ['NBIRTH', 'nbirth'],
    ['DBIRTH', 'dbirth'],
  ])(
    '%s of an earlier session comes again: no alias is believed, and a rebirth is requested',
    async (type, name) => {
      await beBorn();
      await edge.send('NBIRTH', vector('nbirthNext'));
      await edge.send('DBIRTH', vector('dbirthSwapped'));
      const again = await edge.send(/** @type {'NBIRTH' | 'DBIRTH'} */ (type), vector(name), { dup: true });
      expect([again.isContradictory, edge.commands]).toEqual([true, [COMMAND]]);
      expect(values(await edge.send('DDATA', vector('ddataSwapped')))).toEqual([]);
    },
  );

  test('Sparkplug births: the newest births come again: their aliases are valid', async () => {
    await beBorn();
    await edge.send('NBIRTH', vector('nbirth'), { dup: true });
    await edge.send('DBIRTH', vector('dbirth'), { dup: true });
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([['Temperature', 22]]);
    expect(edge.commands).toEqual([]);
  });
});

describe('Sparkplug deaths', () => {
  test('Sparkplug deaths: node: it and its devices have ended, and its next message causes a rebirth request', async () => {
    await beBorn();
    const said = await edge.send('NDEATH', vector('ndeath'));
    expect([said.ended, said.birth, said.batch]).toEqual([[NODE, PRESS], null, null]);
    expect(edge.commands).toEqual([]);
    await edge.send('DDATA', vector('ddata'));
    expect(edge.commands).toEqual([COMMAND]);
  });

  test.each([
    ['of an older birth', 'ndeathBefore'],
    ['of a birth to come', 'ndeathNext'],
    ['without a number', 'ddeath'],
  ])('Sparkplug deaths: node, %s: no session has ended', async (_, name) => {
    await beBorn();
    expect((await edge.send('NDEATH', vector(name))).ended).toEqual([]);
    await edge.send('DDATA', vector('ddata'));
    expect(edge.commands).toEqual([]);
  });

  test('Sparkplug deaths: unborn node: no session has ended', async () => {
    await edge.register(NODE);
    expect((await edge.send('NDEATH', vector('ddeath'))).ended).toEqual([]);
  });

  test('Sparkplug deaths: device: only its session has ended', async () => {
    await beBorn();
    expect((await edge.send('DDEATH', vector('ddeath'))).ended).toEqual([PRESS]);
    expect(edge.commands).toEqual([]);
  });

  test('Sparkplug deaths: device, with a time before its birth: its session has ended, and its aliases are not valid', async () => {
    await beBorn();
    await edge.send('DBIRTH', vector('dbirthSwapped'));
    expect((await edge.send('DDEATH', vector('ddeath'))).ended).toEqual([PRESS]);
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
  });

  test('Sparkplug deaths: unknown device: no session has ended', async () => {
    expect((await edge.send('DDEATH', vector('ddeath'))).ended).toEqual([]);
  });
});

describe('Sparkplug messages that are replayed', () => {
  test('Replayed Sparkplug message: data: read with the births before and after it, without a rebirth request', async () => {
    await beBorn();
    now++;
    const { birth, batch } = await edge.readAgain('DDATA', vector('ddata', 7));
    expect([birth, batch && valuesOf(batch)]).toEqual([null, [['Temperature', 29]]]);
    expect(edge.commands).toEqual([]);
  });

  test('Replayed Sparkplug message: data, and no birth arrived since a restart: its aliases are not certain', async () => {
    await beBorn();
    now++;
    edge.restart();
    expect((await edge.readAgain('DDATA', vector('ddata', 7))).batch?.refused).toHaveLength(1);
  });

  test('Replayed Sparkplug message: a birth: its sensors and values are read', async () => {
    const { birth, batch } = await edge.readAgain('DBIRTH', vector('dbirth'));
    expect(birth?.sensors).toHaveLength(4);
    expect(batch && valuesOf(batch)).toHaveLength(3);
  });

  test.each([['NDEATH'], ['DDEATH']])('Replayed Sparkplug message: %s: it has no result', async (type) => {
    await beBorn();
    const said = await edge.readAgain(/** @type {'NDEATH' | 'DDEATH'} */ (type), vector('ndeath'));
    expect(said).toMatchObject({ birth: null, batch: null });
  });
});
