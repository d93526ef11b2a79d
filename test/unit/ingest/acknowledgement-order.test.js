import { afterAll, beforeAll } from '@jest/globals';
import { GROUPS, testAcknowledgements, WRITES_OF_A_MESSAGE } from '../../support/acknowledgement-order.js';
import { HeldWrites } from '../../support/held-writes.js';
import { startMemoryPipeline } from '../../support/memory-pipeline.js';
import { track } from '../../support/track.js';

/** @import { MemoryPipeline } from '../../support/memory-pipeline.js' */

const writes = new HeldWrites();
/** @type {MemoryPipeline} */
let pipeline;
beforeAll(async () => {
  pipeline = await startMemoryPipeline({ settings: { LATEST_GROUPS: String(GROUPS) }, writes });
});
afterAll(() => pipeline?.stop());

const ANOTHER = [{ sensor_id: 's', ts: Date.now(), value: 1 }];

testAcknowledgements('message', {
  writes,
  transport: {
    send: (device, elements) => track(() => pipeline.measure(device, elements)),
    async sendAnother(device) {
      await pipeline.measure(device, ANOTHER);
    },
    // What is settled is settled in this process.
    flush: async () => {},
  },
});

testAcknowledgements('submission', {
  writes,
  transport: {
    send: (device, elements) => track(() => pipeline.submit(device, elements)),
    async sendAnother(device) {
      await pipeline.submit(device, ANOTHER);
    },
    flush: async () => {},
  },
  // The sender gets the refusals, and there is no dead letter.
  cases: WRITES_OF_A_MESSAGE.filter(({ write }) => write !== 'deadLetters.write'),
});
