import { afterAll, beforeAll } from '@jest/globals';
import { HeldWrites } from '../../support/database/held-writes.js';
import { track } from '../../support/database/track.js';
import {
  GROUPS,
  testAcknowledgements,
  WRITES_OF_A_MESSAGE,
} from '../../support/mqtt/acknowledgement-order.js';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.js';

/** @import { MemoryPipeline } from '../../support/system/memory-pipeline.js' */

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
