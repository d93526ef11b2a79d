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
  test('Sparkplug data: births are known, nothing is missing: aliases are resolved, and no rebirth is requested', async () => {
    await beBorn();
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([['Temperature', 22]]);
    expect(edge.commands).toEqual([]);
  });

  test('Sparkplug data: an earlier message is missing: the data is read, and a rebirth is requested', async () => {
    await beBorn();
    expect(values(await edge.send('DDATA', vector('ddata', 1)))).toEqual([['Temperature', 23]]);
    expect(edge.commands).toEqual([COMMAND]);
    expect(await edge.requests()).toBe(1);
  });

  test('Sparkplug data: a message is missing: a rebirth is requested until the birth, then no more', async () => {
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

  test('Sparkplug data: the node is unknown: metrics with a type are read, and a rebirth is requested', async () => {
    expect(values(await edge.send('DDATA', vector('types')))).toContainEqual(['Int8', -128]);
    expect(edge.commands).toEqual([COMMAND]);
  });

  test('Sparkplug data: an alias that no birth defined: refused, and a rebirth is requested', async () => {
    await beBorn();
    const { batch } = await edge.send('DDATA', vector('ddataUnknown'));
    expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
    expect(edge.commands).toEqual([COMMAND]);
  });

  test('Sparkplug data: the broker redelivers a message: no gap is found', async () => {
    await beBorn();
    await edge.send('DDATA', vector('ddata'));
    await edge.send('DDATA', vector('ddata', 1));
    await edge.send('DDATA', vector('ddata'), { dup: true });
    await edge.send('DDATA', vector('ddata', 2));
    expect(edge.commands).toEqual([]);
  });

  test('Sparkplug data: this process restarted: aliases are refused until the births, and a rebirth is requested', async () => {
    await beBorn();
    edge.restart();
    const { batch } = await edge.send('DDATA', vector('ddata', 5));
    expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
    expect(edge.commands).toEqual([COMMAND]);
    await beBorn();
    expect(values(await edge.send('DDATA', vector('ddata', 6)))).toEqual([['Temperature', 28]]);
  });

  test('Sparkplug data: the broker connection broke: aliases are not resolved before the next birth', async () => {
    await beBorn();
    edge.forgetBirths();
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
    expect(edge.commands).toEqual([COMMAND]);
  });

  test('Sparkplug data: the clock of the node was set back since the birth: aliases are those of the last birth', async () => {
    await edge.send('NBIRTH', vector('nbirthNext'));
    await edge.send('DBIRTH', vector('dbirthSwapped'));
    expect(values(await edge.send('DDATA', vector('ddata')))).not.toContainEqual(['Temperature', 22]);
  });

  test('Sparkplug data: a birth of its device is refused: earlier aliases are no longer valid', async () => {
    await beBorn();
    edge.doubt('DBIRTH');
    expect(edge.commands).toEqual([COMMAND]);
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
  });

  test('Sparkplug data: redelivered, and its alias has another meaning now: refused', async () => {
    await beBorn();
    await edge.send('NBIRTH', vector('nbirthNext'));
    await edge.send('DBIRTH', vector('dbirthSwapped'));
    const { batch } = await edge.send('DDATA', vector('ddata'), { dup: true });
    expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
  });
});

test('Sparkplug data: delivered late, after a newer birth: an alias with another meaning is refused', async () => {
  await beBorn();
  await edge.send('NBIRTH', vector('nbirthNext'));
  await edge.send('DBIRTH', vector('dbirthSwapped'));
  const { batch } = await edge.send('DDATA', vector('ddata', 5));
  expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
  expect(edge.commands).toEqual([COMMAND]);
});

describe('Sparkplug births', () => {
  test('Sparkplug births: node and its device: sensors and values are read, and no session ends', async () => {
    const node = await edge.send('NBIRTH', vector('nbirth'));
    expect(node.birth?.sensors.map(({ name }) => name)).toEqual(['Supply Voltage']);
    expect([values(node), node.ended]).toEqual([[['Supply Voltage', 12.5]], []]);
    const device = await edge.send('DBIRTH', vector('dbirth'));
    expect(device.birth?.session.id).toBe(T0 + 1);
    expect([values(device)?.length, device.ended, edge.commands]).toEqual([3, [], []]);
  });

  test.each([
    ['the definitions', 'sparkplug_birth', 'NBIRTH', 'nbirth'],
    ['the birth number', 'sparkplug_node', 'NBIRTH', 'nbirth'],
    ['the definitions', 'sparkplug_birth', 'DBIRTH', 'dbirth'],
    ['the list of devices', 'sparkplug_node', 'DBIRTH', 'dbirth'],
  ])(
    'Sparkplug births: the write of %s is pending: the birth is settled only after the commit (%s, %s)',
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

  test('Sparkplug births: DBIRTH without an NBIRTH before it: a rebirth of the node is requested', async () => {
    await edge.send('DBIRTH', vector('dbirth'));
    expect(edge.commands).toEqual([COMMAND]);
  });

  test('Sparkplug births: NBIRTH on a new connection: the sessions of earlier devices end', async () => {
    await beBorn();
    expect((await edge.send('NBIRTH', vector('nbirthNext'))).ended).toEqual([PRESS]);
    edge.restart();
    expect((await edge.send('NDEATH', vector('ndeathNext'))).ended.sort()).toEqual([NODE, PRESS]);
  });

  test('Sparkplug births: NBIRTH again on the same connection: devices stay, but their old aliases are not valid', async () => {
    await beBorn();
    expect((await edge.send('NBIRTH', vector('nbirthAgain'))).ended).toEqual([]);
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
  });

  test('Sparkplug births: a DBIRTH has a later time than the NBIRTH after it: the order of arrival counts', async () => {
    await beBorn();
    await edge.send('DBIRTH', vector('dbirthSwapped'));
    expect((await edge.send('NBIRTH', vector('nbirthNext'))).ended).toEqual([PRESS]);
  });

  test.each([
    ['NBIRTH', 'nbirth'],
    ['DBIRTH', 'dbirth'],
  ])(
    'Sparkplug births: %s of an earlier session is redelivered: aliases are refused, and a rebirth is requested',
    async (type, name) => {
      await beBorn();
      await edge.send('NBIRTH', vector('nbirthNext'));
      await edge.send('DBIRTH', vector('dbirthSwapped'));
      const again = await edge.send(/** @type {'NBIRTH' | 'DBIRTH'} */ (type), vector(name), { dup: true });
      expect([again.isContradictory, edge.commands]).toEqual([true, [COMMAND]]);
      expect(values(await edge.send('DDATA', vector('ddataSwapped')))).toEqual([]);
    },
  );

  test('Sparkplug births: the newest births are redelivered: their aliases stay valid', async () => {
    await beBorn();
    await edge.send('NBIRTH', vector('nbirth'), { dup: true });
    await edge.send('DBIRTH', vector('dbirth'), { dup: true });
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([['Temperature', 22]]);
    expect(edge.commands).toEqual([]);
  });
});

describe('Sparkplug deaths', () => {
  test('Sparkplug deaths: NDEATH: node and devices end, and the next message causes a rebirth request', async () => {
    await beBorn();
    const said = await edge.send('NDEATH', vector('ndeath'));
    expect([said.ended, said.birth, said.batch]).toEqual([[NODE, PRESS], null, null]);
    expect(edge.commands).toEqual([]);
    await edge.send('DDATA', vector('ddata'));
    expect(edge.commands).toEqual([COMMAND]);
  });

  test.each([
    ['of an older birth', 'ndeathBefore'],
    ['of a future birth', 'ndeathNext'],
    ['without a number', 'ddeath'],
  ])('Sparkplug deaths: NDEATH %s: no session ends', async (_, name) => {
    await beBorn();
    expect((await edge.send('NDEATH', vector(name))).ended).toEqual([]);
    await edge.send('DDATA', vector('ddata'));
    expect(edge.commands).toEqual([]);
  });

  test('Sparkplug deaths: NDEATH of a node without a birth: no session ends', async () => {
    await edge.register(NODE);
    expect((await edge.send('NDEATH', vector('ddeath'))).ended).toEqual([]);
  });

  test('Sparkplug deaths: DDEATH: only the session of the device ends', async () => {
    await beBorn();
    expect((await edge.send('DDEATH', vector('ddeath'))).ended).toEqual([PRESS]);
    expect(edge.commands).toEqual([]);
  });

  test('Sparkplug deaths: DDEATH with a time before its birth: the session ends, and the aliases are not valid', async () => {
    await beBorn();
    await edge.send('DBIRTH', vector('dbirthSwapped'));
    expect((await edge.send('DDEATH', vector('ddeath'))).ended).toEqual([PRESS]);
    expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
  });

  test('Sparkplug deaths: DDEATH of an unknown device: no session ends', async () => {
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

  test('Replayed Sparkplug message: data, and no birth since a restart: its aliases are not certain', async () => {
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

  test.each([['NDEATH'], ['DDEATH']])('Replayed Sparkplug message: %s: no birth, no values', async (type) => {
    await beBorn();
    const said = await edge.readAgain(/** @type {'NDEATH' | 'DDEATH'} */ (type), vector('ndeath'));
    expect(said).toMatchObject({ birth: null, batch: null });
  });
});
