import { expect, test } from '@jest/globals';
import { DeviceQueue, isBarrier, queueKeyOf } from '../../../../api/ingest/admission/index.ts';
import { parseTopic, type Topic } from '../../../../schema/topics.ts';

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Work that the test ends. */
function createWork() {
  let end: (error?: Error) => void = () => {};
  const done = new Promise((resolve, reject) => {
    end = (error) => (error ? reject(error) : resolve(undefined));
  });
  const work = {
    begun: false,
    end: (error: Error | undefined = undefined) => end(error),
    run: async () => {
      work.begun = true;
      await done;
    },
  };
  return work;
}

test('Queue of a device: measurements: run concurrently; behind a birth message: wait for the birth', async () => {
  const queue = new DeviceQueue();
  const [a, b, birth, c, elsewhere] = [createWork(), createWork(), createWork(), createWork(), createWork()];
  const all = [
    queue.run('d', false, a.run),
    queue.run('d', false, b.run),
    queue.run('d', true, birth.run),
    queue.run('d', false, c.run),
    queue.run('e', false, elsewhere.run),
  ];
  await turn();
  expect([a, b, birth, c, elsewhere].map(({ begun }) => begun)).toEqual([true, true, true, false, true]);
  birth.end();
  await turn();
  expect(c.begun).toBe(true);
  for (const work of [a, b, c, elsewhere]) work.end();
  await Promise.all(all);
});

test('Queue of a device: two birth messages: one runs after the other, also if the first fails', async () => {
  const queue = new DeviceQueue();
  const [first, second, behind] = [createWork(), createWork(), createWork()];
  const failing = queue.run('d', true, first.run);
  const following = queue.run('d', true, second.run);
  const last = queue.run('d', false, behind.run);
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

const id = '3388eef7-0000-5000-8000-000000000000';
const identity = { id, bytes: Buffer.alloc(16), name: null };
test.each([
  ['iot/v1/pump/birth', id, true],
  ['iot/v1/pump/measurements', id, false],
  ['iot/v1/pump/status', id, true],
])('Queue of a device: message on %s: queue key %s, later messages wait: %s', (topic, key, barrier) => {
  const parsed = parseTopic(topic) as Topic;
  expect([queueKeyOf(parsed, identity), isBarrier(parsed)]).toEqual([key, barrier]);
});
