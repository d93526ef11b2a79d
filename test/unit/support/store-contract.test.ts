import { beforeAll, expect } from '@jest/globals';
import { createMemoryStore, type MemoryStore } from '../../support/memory-store/index.ts';
import { describeCells } from '../../support/store-contract/cells.ts';
import { describeEvents } from '../../support/store-contract/events.ts';
import { describePacking } from '../../support/store-contract/packing.ts';
import { describeSamples } from '../../support/store-contract/samples.ts';
import { describeWatchedTime } from '../../support/store-contract/watched-time.ts';

const clock = { now: Date.now() };

let memory: MemoryStore;
beforeAll(async () => {
  memory = await createMemoryStore({ clock: () => clock.now });
});

const subject = () => ({
  ...memory,
  async afterTwoSeconds(isExpired: () => Promise<boolean>) {
    expect(await isExpired()).toBe(false);
    clock.now += 2000;
    expect(await isExpired()).toBe(true);
  },
});

describeCells(subject);
describeSamples(subject);
describePacking(subject);
describeEvents(subject);
describeWatchedTime(subject);
