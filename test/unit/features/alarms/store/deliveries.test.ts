import { beforeAll } from '@jest/globals';
import { describeAlarmDeliveries } from '../../../../support/features/alarms/alarm-deliveries.ts';
import { createMemoryStore, type MemoryStore } from '../../../../support/memory-store/index.ts';

let memory: MemoryStore;
beforeAll(async () => {
  memory = await createMemoryStore({ clock: Date.now });
});

describeAlarmDeliveries(() => memory);
