import { describeStreaming } from '../../../support/features/kafka/store-contract.ts';
import { useStoredSystem } from '../../../support/system/stored.ts';

const stored = useStoredSystem({});

describeStreaming(() => stored.store());
