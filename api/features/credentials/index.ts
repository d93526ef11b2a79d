/** Credentials of devices: each device signs in to the embedded broker with a secret of its own, and operators issue and revoke them. */
import { defineFeature } from '../../feature.ts';
import { createCredentialService } from './credential-service.ts';
import { DeviceAccounts } from './device-accounts.ts';
import { routes } from './routes.ts';
import { SCHEMAS } from './schemas.ts';
import { createCredentialStore } from './store.ts';

/** `recheck`: interval of the check of the credentials of open connections; after a rotation or revocation they close within 30 s */
export const PERIODS_MS = { recheck: 20_000 };

export const credentialsFeature = defineFeature({
  name: 'credentials',
  tags: { credentials: 'Accounts of devices at the embedded broker, if `MQTT_AUTH` is on.' },
  schemas: SCHEMAS,
  routes,
  create({ context: { config, clock, logger, periodsOf }, store }) {
    const { auth, url, username } = config.mqtt;
    const table = createCredentialStore(store);
    const accounts = new DeviceAccounts({ store: table, everyMs: periodsOf(PERIODS_MS).recheck, logger });
    const credentials = createCredentialService({
      store: table,
      clock,
      installation: username,
      onChange: (device) => accounts.check(device),
    });
    return {
      deps: { credentials },
      signIn: accounts.signIn,
      onRetiring: credentials.forget,
      start: () => void (auth && !url && accounts.start()),
      stop: () => accounts.stop(),
    };
  },
});
