import { createCredentialStore } from '../../../../api/features/credentials/store.ts';
import { describeCredentials } from '../../../support/features/credentials/store-contract.ts';
import { useStoredSystem } from '../../../support/system/stored.ts';

const stored = useStoredSystem({});

describeCredentials(() => createCredentialStore(stored.store()));
