import { removeSamples } from '../../../api/features/corrections/removal.ts';
import { undoCorrection } from '../../../api/features/corrections/undo.ts';
import { selectSensors } from '../../../api/features/shared/selection/index.ts';
import { createReading } from '../../../api/history/reading/index.ts';
import type { Correction } from '../../../api/store/corrections.ts';
import { type Identity, identifyDevice } from '../../../schema/ids.ts';
import type { MemoryPipeline } from '../system/memory-pipeline.ts';

type Sample = { sensor_id: string; ts: number; value: number };

const DAY_MS = 86_400_000;
const ENDLESS = new AbortController().signal;
const request = { by: 'test', reason: null };

/** The corrections of a process, on a pipeline with a database in memory. */
export function correctionsOf(pipeline: MemoryPipeline, clock: () => number = Date.now) {
  const { store, ingest, corrections } = pipeline;
  const deps = { store, reading: createReading(store), ingest, corrections };
  const log = store.corrections;

  function undoOf(correction: Correction | undefined) {
    if (!correction) throw new Error('there is no correction');
    return undoCorrection(deps, correction, request);
  }

  return {
    corrections,
    log,

    async replace(device: string, samples: Sample[]) {
      const payload = Buffer.from(JSON.stringify(samples));
      const batch = ingest.decoder.decode(payload, 'application/json', clock());
      await corrections.replaceBatch(identifyDevice(device) as Identity, batch, request);
      return batch;
    },

    undoOf,

    /** Undoes the newest correction of all. */
    async undo() {
      const range = { from: clock() - 300 * DAY_MS, to: clock() + DAY_MS };
      const [newest] = (await log.page(null, range, { before: null, limit: 1 })).corrections;
      return undoOf(newest);
    },

    /** @param options `from`, `to`: epoch ms; default: everything */
    async remove(
      device: string,
      options: {
        from?: number;
        to?: number;
        sensor?: string;
        isDry?: boolean;
        signal?: AbortSignal;
      } = {},
    ) {
      const {
        from = clock() - 300 * DAY_MS,
        to = clock() + DAY_MS,
        sensor,
        isDry = false,
        signal = ENDLESS,
      } = options;
      const selection = {
        devices: [device],
        sensors: sensor ? [sensor] : [],
        site: undefined,
        type: undefined,
      };
      const selected = await selectSensors(deps, selection, { limit: 100, to, signal });
      return removeSamples(deps, selected, { range: { from, to }, ...request, isDry, signal });
    },
  };
}
