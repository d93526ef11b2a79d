import { beforeAll, expect } from '@jest/globals';
import { createMemoryStore } from '../../support/memory-store/index.js';
import { describeAlarmDeliveries } from '../../support/store-contract/alarm-deliveries.js';
import { describeCells } from '../../support/store-contract/cells.js';
import { describeCredentials } from '../../support/store-contract/credentials.js';
import { describePacking } from '../../support/store-contract/packing.js';
import { describeSamples } from '../../support/store-contract/samples.js';
import { describeStreaming } from '../../support/store-contract/streaming.js';
import { describeWatchedTime } from '../../support/store-contract/watched-time.js';

/** @import { MemoryStore } from '../../support/memory-store/index.js' */

const clock = { now: Date.now() };

/** @type {MemoryStore} */
let memory;
beforeAll(async () => {
  memory = await createMemoryStore({ clock: () => clock.now });
});

const subject = () => ({
  ...memory,
  async afterTwoSeconds(/** @type {() => Promise<boolean>} */ isExpired) {
    expect(await isExpired()).toBe(false);
    clock.now += 2000;
    expect(await isExpired()).toBe(true);
  },
});

describeAlarmDeliveries(subject);
describeCells(subject);
describeSamples(subject);
describePacking(subject);
describeStreaming(subject);
describeWatchedTime(subject);
describeCredentials(() => memory.store.credentials);
