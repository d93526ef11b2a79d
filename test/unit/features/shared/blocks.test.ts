import { beforeAll } from '@jest/globals';
import type { Store } from '../../../../api/store/index.ts';
import { describeBlocks } from '../../../support/features/shared/blocks.ts';
import { createMemoryStore } from '../../../support/memory-store/index.ts';

let store: Store;
beforeAll(async () => {
  ({ store } = await createMemoryStore());
});

describeBlocks(() => store);
