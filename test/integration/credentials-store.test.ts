import { describeCredentials } from '../support/store-contract/credentials.js';
import { useStoredSystem } from '../support/system/stored.js';

const stored = useStoredSystem({});

describeCredentials(() => stored.store().credentials);
