import { describeBlocks } from '../../../support/features/shared/blocks.ts';
import { useStoredSystem } from '../../../support/system/stored.ts';

const stored = useStoredSystem({});

describeBlocks(() => stored.store());
