import { describeCredentials } from '../support/store-contract/credentials.ts';
import { useStoredSystem } from '../support/system/stored.ts';

const stored = useStoredSystem({});

describeCredentials(() => stored.store().credentials);
