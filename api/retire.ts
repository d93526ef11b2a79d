import type { Identity } from '../schema/ids.ts';
import type { CredentialService } from './access/credentials/credential-service.ts';
import { revokeBefore } from './access/credentials/index.ts';
import type { Ingest } from './ingest/index.ts';
import type { Live } from './live/index.ts';
import type { RunningFeatures } from './running-features.ts';

/** Returns the function that retires a device in all parts of the process. It returns whether the device was registered or had credentials. */
export function createRetire({
  ingest,
  credentials,
  live,
  features,
}: {
  ingest: Ingest;
  credentials: CredentialService;
  live: Live;
  features: RunningFeatures;
}) {
  const revokeAndRetire = revokeBefore({ retire: ingest.retire, forget: credentials.forget });
  return async (device: Identity): Promise<boolean> => {
    const before = await ingest.find(device);
    const isRetired = await revokeAndRetire(device);
    if (isRetired && before) live.remove(before);
    // Also if the device is already retired: after a failure of this step, a second call repeats it.
    await features.retired(device, before);
    return isRetired;
  };
}
