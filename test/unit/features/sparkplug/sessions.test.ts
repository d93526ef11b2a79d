import { beforeEach, expect, test } from '@jest/globals';
import {
  createMemoryEdgeNode,
  type MemoryEdgeNode,
  valuesOf,
} from '../../../support/features/sparkplug/memory-edge-node.ts';
import { bdSeq, encodePayload } from '../../../support/features/sparkplug/payload.ts';
import { LATER, T0, vector } from '../../../support/features/sparkplug/vectors.ts';
import { until } from '../../../support/until.ts';

const COMMAND = 'spBv1.0/plant/NCMD/edge-1';
const [NODE, PRESS] = ['plant/edge-1', 'plant/edge-1/press'];

let edge: MemoryEdgeNode;
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

const values = ({ batch }: Awaited<ReturnType<typeof edge.send>>) => batch && valuesOf(batch);

test('Sparkplug data: births were received, no message is missing: aliases are resolved, and no rebirth is requested', async () => {
  await beBorn();
  expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([['Temperature', 22]]);
  expect(edge.commands).toEqual([]);
});

test('Sparkplug data: an earlier message is missing: a rebirth is requested every 10 s until the birth arrives', async () => {
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

test('Sparkplug data: edge node without a birth: metrics with a type are read, and a rebirth is requested', async () => {
  expect(values(await edge.send('DDATA', vector('types')))).toContainEqual(['Int8', -128]);
  expect(edge.commands).toEqual([COMMAND]);
});

test('Sparkplug data: its alias is in no birth: refused as unknown_sensor, and a rebirth is requested', async () => {
  await beBorn();
  const { batch } = await edge.send('DDATA', vector('ddataUnknown'));
  expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
  expect(edge.commands).toEqual([COMMAND]);
});

test('Sparkplug data: Millrace restarted: aliases are refused until the next births, and a rebirth is requested', async () => {
  await beBorn();
  edge.restart();
  const { batch } = await edge.send('DDATA', vector('ddata', 5));
  expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
  expect(edge.commands).toEqual([COMMAND]);
  await beBorn();
  expect(values(await edge.send('DDATA', vector('ddata', 6)))).toEqual([['Temperature', 28]]);
});

test('Sparkplug data: the DBIRTH of its device is refused: aliases of earlier births are refused', async () => {
  await beBorn();
  edge.doubt('DBIRTH');
  expect(edge.commands).toEqual([COMMAND]);
  expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
});

test('Sparkplug data: redelivered after a birth that gave its alias another meaning: refused as unknown_sensor', async () => {
  await beBorn();
  await edge.send('NBIRTH', vector('nbirthNext'));
  await edge.send('DBIRTH', vector('dbirthSwapped'));
  const { batch } = await edge.send('DDATA', vector('ddata'), { dup: true });
  expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
});

test('Sparkplug data: delivered late, after a birth that gave its alias another meaning: refused as unknown_sensor', async () => {
  await beBorn();
  await edge.send('NBIRTH', vector('nbirthNext'));
  await edge.send('DBIRTH', vector('dbirthSwapped'));
  const { batch } = await edge.send('DDATA', vector('ddata', 5));
  expect(batch?.refused).toMatchObject([{ code: 'unknown_sensor', path: 'metrics[0].alias' }]);
  expect(edge.commands).toEqual([COMMAND]);
});

test.each([
  ['definitions', 'sparkplug_birth', 'NBIRTH', 'nbirth'],
  ['birth numbers', 'sparkplug_node', 'NBIRTH', 'nbirth'],
  ['definitions', 'sparkplug_birth', 'DBIRTH', 'dbirth'],
  ['names of devices', 'sparkplug_node', 'DBIRTH', 'dbirth'],
])(
  'Sparkplug births: %s are not committed to %s yet: %s is not acknowledged',
  async (_, table, type, name) => {
    const open = edge.hold(table);
    let settled = false;
    const saying = edge.send(type as 'NBIRTH' | 'DBIRTH', vector(name)).then(() => {
      settled = true;
    });
    await until(() => edge.waiting.length > 0, { what: 'the write' });
    for (let turns = 0; turns < 20; turns++) await new Promise(setImmediate);
    expect(settled).toBe(false);
    open();
    await saying;
  },
);

test('Sparkplug births: DBIRTH without an NBIRTH before it: a rebirth of the edge node is requested', async () => {
  await edge.send('DBIRTH', vector('dbirth'));
  expect(edge.commands).toEqual([COMMAND]);
});

test('Sparkplug births: NBIRTH with a new bdSeq: the sessions of earlier devices end', async () => {
  await beBorn();
  expect((await edge.send('NBIRTH', vector('nbirthNext'))).ended).toEqual([PRESS]);
  edge.restart();
  expect((await edge.send('NDEATH', vector('ndeathNext'))).ended.sort()).toEqual([NODE, PRESS]);
});

test('Sparkplug births: NBIRTH again with the same bdSeq: device sessions stay, but aliases of earlier births are refused', async () => {
  await beBorn();
  expect((await edge.send('NBIRTH', vector('nbirthAgain'))).ended).toEqual([]);
  expect(values(await edge.send('DDATA', vector('ddata')))).toEqual([]);
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
    const again = await edge.send(type as 'NBIRTH' | 'DBIRTH', vector(name), { dup: true });
    expect([again.isContradictory, edge.commands]).toEqual([true, [COMMAND]]);
    expect(values(await edge.send('DDATA', vector('ddataSwapped')))).toEqual([]);
  },
);

test('Sparkplug deaths: NDEATH: sessions of node and devices end, and the next data message causes a rebirth request', async () => {
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
])('Sparkplug deaths: NDEATH %s: it is refused, and no session ends', async (_, name) => {
  await beBorn();
  await expect(edge.send('NDEATH', vector(name))).rejects.toMatchObject({ code: 'other_session' });
  await edge.send('DDATA', vector('ddata'));
  expect(edge.commands).toEqual([]);
});

// Cirrus-Link2/Sparkplug#17, thomassorensen2650/node-red-contrib-mqtt-sparkplug-plus#67
const withoutNumber = { ts: 1, metrics: [{ name: 'Temperature', value: 1 }] };
test.each([
  ['a time only, birth bdSeq 0', [bdSeq(0)], encodePayload({ ts: 1 }), [NODE]],
  ['an empty payload, birth bdSeq 0', [bdSeq(0)], Buffer.alloc(0), [NODE]],
  ['another metric only, birth bdSeq 7', [bdSeq(7)], encodePayload(withoutNumber), [NODE]],
  ['bdSeq 0, birth without bdSeq', [], encodePayload({ metrics: [bdSeq(0)] }), [NODE]],
  ['nothing, birth without bdSeq', [], Buffer.alloc(0), [NODE]],
  ['bdSeq 0, birth bdSeq 0', [bdSeq(0)], encodePayload({ metrics: [bdSeq(0)] }), [NODE]],
  ['bdSeq 0, births bdSeq 0 and 1', [bdSeq(0), bdSeq(1)], encodePayload({ metrics: [bdSeq(0)] }), null],
])(
  'Sparkplug deaths: NDEATH has %s: it ends the session that it belongs to',
  async (_, births, death, ended) => {
    for (const isRestarted of [false, true]) {
      await edge.send('NBIRTH', encodePayload({ ts: 1, seq: 0, metrics: births.slice(0, 1) }));
      if (births.length > 1)
        await edge.send('NBIRTH', encodePayload({ ts: 2, seq: 0, metrics: births.slice(1) }));
      if (isRestarted) edge.restart();
      const sent = edge.send('NDEATH', death);
      if (ended) expect((await sent).ended).toEqual(ended);
      else await expect(sent).rejects.toMatchObject({ code: 'other_session' });
    }
  },
);

test('Sparkplug deaths: the birth of an edge node never arrived: a registered node is offline, of another the death is refused', async () => {
  await expect(edge.send('NDEATH', vector('ndeath'))).rejects.toMatchObject({ code: 'unknown_device' });
  await expect(edge.send('DDEATH', vector('ddeath'))).rejects.toMatchObject({ code: 'unknown_device' });
  await edge.register(NODE);
  expect((await edge.send('NDEATH', vector('ndeath'))).ended).toEqual([NODE]);
});

test('Sparkplug deaths: DDEATH: only the session of the device ends', async () => {
  await beBorn();
  expect((await edge.send('DDEATH', vector('ddeath'))).ended).toEqual([PRESS]);
  expect(edge.commands).toEqual([]);
});

test('Replayed Sparkplug message: DDATA: read with the births before and after it, without a rebirth request', async () => {
  await beBorn();
  now++;
  const { birth, batch } = await edge.readAgain('DDATA', vector('ddata', 7));
  expect([birth, batch && valuesOf(batch)]).toEqual([null, [['Temperature', 29]]]);
  expect(edge.commands).toEqual([]);
});

test('Replayed Sparkplug message: DDATA, and no birth since a restart: its alias is refused', async () => {
  await beBorn();
  now++;
  edge.restart();
  expect((await edge.readAgain('DDATA', vector('ddata', 7))).batch?.refused).toHaveLength(1);
});

test('Replayed Sparkplug message: DBIRTH: its sensors and values are read', async () => {
  const { birth, batch } = await edge.readAgain('DBIRTH', vector('dbirth'));
  expect(birth?.sensors).toHaveLength(4);
  expect(batch && valuesOf(batch)).toHaveLength(3);
});

test.each([['NDEATH'], ['DDEATH']])(
  'Replayed Sparkplug message: %s: no sensors and no values are read',
  async (type) => {
    await beBorn();
    const said = await edge.readAgain(type as 'NDEATH' | 'DDEATH', vector('ndeath'));
    expect(said).toMatchObject({ birth: null, batch: null });
  },
);
