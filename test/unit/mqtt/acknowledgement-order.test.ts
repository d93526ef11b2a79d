import { useStarted } from '../../support/clean-ups.ts';
import { HeldWrites } from '../../support/database/held-writes.ts';
import { track } from '../../support/database/track.ts';
import {
  GROUPS,
  testAcknowledgements,
  WRITES_OF_A_MESSAGE,
} from '../../support/mqtt/acknowledgement-order.ts';
import { startMemoryPipeline } from '../../support/system/memory-pipeline.ts';

const writes = new HeldWrites();
const settings = { LATEST_GROUPS: String(GROUPS) };
const pipeline = useStarted(
  () => startMemoryPipeline({ settings, writes }),
  ({ stop }) => stop(),
);

const ANOTHER = [{ sensor_id: 's', ts: Date.now(), value: 1 }];

testAcknowledgements('message', {
  writes,
  transport: {
    send: (device, elements) => track(() => pipeline.measure(device, elements)),
    async sendAnother(device) {
      await pipeline.measure(device, ANOTHER);
    },
    // Messages settle in this process, so there is nothing to flush.
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
  // The sender of a submission gets the refusals directly, so no dead letter is written.
  cases: WRITES_OF_A_MESSAGE.filter(({ write }) => write !== 'deadLetters.write'),
});
