import { createMemoryCredentials } from '../../support/memory-credentials.js';
import { describeCredentials } from '../../support/store-contract/credentials.js';

const store = createMemoryCredentials();

describeCredentials(() => store);
