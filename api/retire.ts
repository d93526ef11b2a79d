import type { Identity } from '../schema/ids.ts';
import type { Ingest } from './ingest/index.ts';
import type { Live } from './live/index.ts';
import type { RunningFeatures } from './running-features.ts';

/** Returns the function that retires a device in all parts of the process. It returns whether a part knew the device. */
export function createRetire({
  ingest,
  live,
  features,
}: {
  ingest: Ingest;
  live: Live;
  features: RunningFeatures;
}) {
  return async (device: Identity): Promise<boolean> => {
    const before = await ingest.find(device);
    // A feature closes the account of the device first. In the other order, a connected device could register again.
    const wasKnown = await features.retiring(device);
    const isRetired = await ingest.retire(device);
    if ((wasKnown || isRetired) && before) live.remove(before);
    // Also if the device is already retired: after a failure of this step, a second call repeats it.
    await features.retired(device, before);
    return wasKnown || isRetired;
  };
}
