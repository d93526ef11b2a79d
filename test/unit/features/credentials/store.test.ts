import { beforeAll } from '@jest/globals';
import type { CredentialStore } from '../../../../api/features/credentials/store.ts';
import { createMemoryCredentials } from '../../../support/features/credentials/index.ts';
import { describeCredentials } from '../../../support/features/credentials/store-contract.ts';

let credentials: CredentialStore;
beforeAll(async () => {
  credentials = await createMemoryCredentials();
});

describeCredentials(() => credentials);
