import { describe, expect, test } from '@jest/globals';
import { createLanes, isAwaited, laneOf } from '../../../../api/ingest/backpressure/device-queue.js';
import { parseTopic } from '../../../../api/ingest/topics.js';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Work that ends when it is told to. */
function createWork() {
  /** @type {(error?: Error) => void} */
  let end = () => {};
  const done = new Promise((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve(undefined));
  });
  const work = {
    begun: false,
    end: (/** @type {Error | undefined} */ error = undefined) => end(error),
    run: async () => {
      work.begun = true;
      await done;
    },
  };
  return work;
}

test('measurements of a device run beside each other; behind a birth they wait for it', async () => {
  const lanes = createLanes();
  const [a, b, birth, c, elsewhere] = [createWork(), createWork(), createWork(), createWork(), createWork()];
  const all = [
    lanes.run('d', false, a.run),
    lanes.run('d', false, b.run),
    lanes.run('d', true, birth.run),
    lanes.run('d', false, c.run),
    lanes.run('e', false, elsewhere.run),
  ];
  await turn();
  expect([a, b, birth, c, elsewhere].map(({ begun }) => begun)).toEqual([true, true, true, false, true]);
  birth.end();
  await turn();
  expect(c.begun).toBe(true);
  for (const work of [a, b, c, elsewhere]) work.end();
  await Promise.all(all);
});

test('births of one device come one after the other; one that fails holds up nobody', async () => {
  const lanes = createLanes();
  const [first, second, behind] = [createWork(), createWork(), createWork()];
  const failing = lanes.run('d', true, first.run);
  const following = lanes.run('d', true, second.run);
  const last = lanes.run('d', false, behind.run);
  await turn();
  expect([second.begun, behind.begun]).toEqual([false, false]);
  first.end(new Error('malformed'));
  await expect(failing).rejects.toThrow('malformed');
  await turn();
  expect([second.begun, behind.begun]).toEqual([true, false]);
  second.end();
  await following;
  await turn();
  expect(behind.begun).toBe(true);
  behind.end();
  await last;
});

describe('Lanes: which lane a message takes, and whether what follows waits for it', () => {
  const id = '3388eef7-0000-5000-8000-000000000000';
  const identity = { id, bytes: Buffer.alloc(16), name: null };
  const edge = 'plant/edge-1';

  test.each([
    ['iot/v1/pump/birth', id, true],
    ['iot/v1/pump/measurements', id, false],
    ['iot/v1/pump/status', id, false],
    ['spBv1.0/plant/NBIRTH/edge-1', edge, true],
    ['spBv1.0/plant/DBIRTH/edge-1/press', edge, true],
    ['spBv1.0/plant/NDEATH/edge-1', edge, true],
    ['spBv1.0/plant/DDEATH/edge-1/press', edge, true],
    ['spBv1.0/plant/NDATA/edge-1', edge, false],
    ['spBv1.0/plant/DDATA/edge-1/press', edge, false],
  ])('%s: lane %s, awaited: %s', (topic, lane, awaited) => {
    const parsed = /** @type {import('../../../../api/ingest/topics.js').Topic} */ (parseTopic(topic));
    expect([laneOf(parsed, identity), isAwaited(parsed)]).toEqual([lane, awaited]);
  });
});
