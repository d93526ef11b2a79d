import { beforeAll } from '@jest/globals';
import type { Store } from '../../../../api/store/index.ts';
import { describeStreaming } from '../../../support/features/kafka/store-contract.ts';
import { createMemoryStore } from '../../../support/memory-store/index.ts';

let store: Store;
beforeAll(async () => {
  ({ store } = await createMemoryStore());
});

describeStreaming(() => store);
