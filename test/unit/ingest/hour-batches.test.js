import { expect, test } from '@jest/globals';
import { createHourBatches } from '../../../api/ingest/hour-batches.js';

/** @typedef {import('../../../api/store/measurements/writes.js').HourWrite} HourWrite */

const A = Buffer.from('device a');
const B = Buffer.from('device b');

/** One row of an hour. @param {number} bucket @param {string} name @returns {HourWrite} */
const rowOf = (bucket, name) => ({
  bucket,
  routing: Buffer.alloc(0),
  queries: [{ query: name, params: [] }],
  bytes: 13,
});

/** A store of which one request after the other may be sent. */
function createStore() {
  /** @type {Array<{ send: () => void, end: (error?: Error) => void }>} */
  const waiting = [];
  /** @type {string[][]} rows of each request that was sent */
  const sent = [];
  /** @param {HourWrite} hour @param {(() => void)} [onSend] */
  function commit({ queries }, onSend) {
    // The array is asked for before it is waited for: what joins later must be in it.
    return new Promise((resolve, reject) => {
      waiting.push({
        send() {
          onSend?.();
          sent.push(queries.map(({ query }) => query));
        },
        end: (error) => (error ? reject(error) : resolve(undefined)),
      });
    });
  }
  return { commit, waiting, sent };
}

function open() {
  const store = createStore();
  const patience = { persist: (/** @type {() => Promise<any>} */ request) => request() };
  const batches = createHourBatches({
    store: /** @type {any} */ (store),
    patience: /** @type {any} */ (patience),
  });
  return { batches, ...store };
}

test('rows of one device and hour that wait share a batch, until it is sent', async () => {
  const { batches, waiting, sent } = open();
  const done = ['1', '2', '3'].map((name) => batches.add(A, rowOf(0, name)));
  waiting[0]?.send();
  done.push(batches.add(A, rowOf(0, '4')));
  expect(waiting).toHaveLength(2);
  waiting[1]?.send();
  expect(sent).toEqual([['1', '2', '3'], ['4']]);
  for (const { end } of waiting) end();
  await Promise.all(done);
});

test('hours that alternate, and devices, have a batch each', async () => {
  const { batches, waiting, sent } = open();
  const done = [0, 1, 0, 1, 0].map((hour, i) => batches.add(A, rowOf(hour, `${hour}:${i}`)));
  done.push(batches.add(B, rowOf(0, 'b')));
  expect(waiting).toHaveLength(3);
  for (const { send, end } of waiting) {
    send();
    end();
  }
  expect(sent).toEqual([['0:0', '0:2', '0:4'], ['1:1', '1:3'], ['b']]);
  await Promise.all(done);
});

test('where a shared batch is refused, each knows its own rows still, and the next begins anew', async () => {
  const { batches, waiting } = open();
  const writes = ['1', '2'].map((name) => rowOf(0, name));
  const done = writes.map((write) => batches.add(A, write));
  waiting[0]?.send();
  waiting[0]?.end(new Error('refused'));
  expect((await Promise.allSettled(done)).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(writes.map(({ queries, bytes }) => [queries.map(({ query }) => query), bytes])).toEqual([
    [['1'], 13],
    [['2'], 13],
  ]);
  void batches.add(A, rowOf(0, '3'));
  expect(waiting).toHaveLength(2);
});

test('one that is never sent holds up no later one', async () => {
  const { batches, waiting } = open();
  const lost = batches.add(A, rowOf(0, '1'));
  waiting[0]?.end(new Error('this process ends'));
  await expect(lost).rejects.toThrow('this process ends');
  void batches.add(A, rowOf(0, '2'));
  expect(waiting).toHaveLength(2);
});

test('a batch that is full is followed by another', () => {
  const { batches, waiting } = open();
  const large = { ...rowOf(0, 'large'), bytes: 60_000 };
  void batches.add(A, large);
  void batches.add(A, { ...large });
  void batches.add(A, rowOf(0, 'small'));
  expect(waiting).toHaveLength(2);
});
