import { describeCredentials } from '../support/store-contract/credentials.js';
import { useStoredSystem } from '../support/stored-system.js';

const stored = useStoredSystem({});

describeCredentials(() => stored.store().credentials);
