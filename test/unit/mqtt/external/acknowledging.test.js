import { expect, test } from '@jest/globals';
import mqttJs from 'mqtt';
import { acknowledgeAfterCommit } from '../../../../api/mqtt/external/acknowledging.js';

/** @import { IPublishPacket } from 'mqtt' */
/** @import { Receipt } from '../../../../api/ingest/receipt-times.js' */

/** The broker of this address is never asked. */
const ADDRESS = 'mqtt://127.0.0.1:1';

test('Subscriber: a message comes again after its chunk got other bytes: it has the same receipt, and neither copy keeps the chunk', () => {
  const client = mqttJs.connect(ADDRESS, { manualConnect: true });
  /** @type {Array<{ payload: Buffer, receipt: Receipt }>} */
  const received = [];
  acknowledgeAfterCommit(client, {
    onPublish: ({ payload }, receipt) => {
      received.push({ payload, receipt });
      // It is never settled.
      return new Promise(() => {});
    },
    onFailed: () => {},
    maxUnsettled: { messages: 10, bytes: 1_000_000 },
  });
  /** @param {Buffer} payload @param {boolean} dup */
  const deliver = (payload, dup) => {
    /** @type {IPublishPacket} */
    const packet = {
      cmd: 'publish',
      topic: 'iot/v1/d/measurements',
      payload,
      qos: 1,
      messageId: 1,
      dup,
      retain: false,
    };
    client.handleMessage(packet, () => {});
  };
  const chunk = Buffer.from(new ArrayBuffer(65_536));
  chunk.write('{"t": 1}', 100);
  deliver(chunk.subarray(100, 108), false);
  chunk.fill(0);
  deliver(Buffer.from('{"t": 1}'), true);
  expect(received.map(({ payload }) => payload.toString())).toEqual(['{"t": 1}', '{"t": 1}']);
  expect(received[1]?.receipt).toBe(received[0]?.receipt);
  for (const { payload } of received) expect(payload.buffer.byteLength).toBeLessThanOrEqual(2048);
});
