import { openDatabase } from './database.ts';
import { ingestSlots } from './features/index.ts';
import { createContext } from './observability/index.ts';
import { createParts, type SystemOptions } from './parts.ts';
import { RunningFeatures } from './running-features.ts';

/**
 * A process with the ROLE `http` has no broker, and ingests the measurements that clients post to it. A process with the ROLE `ingest`
 * answers only health checks and metrics.
 * @throws {MillraceError} with the reason if the process cannot start
 */
export async function startSystem(options: SystemOptions) {
  const { openStore, clockDifference } = options;
  const context = createContext(options);
  const slots = ingestSlots(options.config);
  const database = await openDatabase(context, { openStore, clockDifference, ...slots });
  const features = new RunningFeatures(context);
  const parts = await createParts(options, { context, slots, features, ...database }).catch(async (error) => {
    await Promise.allSettled([features.stop(), database.store.close()]);
    throw error;
  });
  try {
    return await parts.start();
  } catch (error) {
    await parts
      .stop()
      .catch((reason) => context.logger.warn({ reason: String(reason) }, 'the process did not stop cleanly'));
    throw error;
  }
}
