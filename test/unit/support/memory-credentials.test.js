import { describeCredentials } from '../../support/store-contract/credentials.js';
import { createMemoryCredentials } from '../../support/system/memory-credentials.js';

const store = createMemoryCredentials();

describeCredentials(() => store);
